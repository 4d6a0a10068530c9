package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"deed.example/deed/internal/urlerror"
)

// An address says how to connect to Redis.
type address struct {
	network   string // tcp or unix
	hosts     []string
	tls       bool
	user      string // of Redis
	password  string
	database  int
	timeout   time.Duration
	master    string        // its name at the Sentinels, which the hosts then are; else empty
	sentinels *url.Userinfo // the user of the Sentinels
}

// parameters are those that an address can have.
var parameters = []string{"addr", "db", "master_name", "password", "username"}

// parse reads an address, as Open describes it. Its errors do not have the password.
func parse(text string) (a address, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return a, urlerror.Cause(err)
	}
	query := u.Query()
	for name := range query {
		if !slices.Contains(parameters, name) {
			return a, fmt.Errorf("there is no parameter %q; there are %s", name, strings.Join(parameters, ", "))
		}
	}
	database := strings.Trim(u.Path, "/")
	a = address{network: "tcp", hosts: []string{withPort(u.Host, "6379")}, tls: u.Scheme == "rediss", user: u.User.Username()}
	a.password, _ = u.User.Password()
	switch u.Scheme {
	case "redis", "rediss":
	case "unix":
		a.network, a.hosts, database = "unix", []string{u.Path}, query.Get("db")
	default:
		return a, errors.New("it begins with redis://, rediss:// or unix://")
	}
	if a.master = query.Get("master_name"); a.master != "" {
		a.sentinels, a.user, a.password = u.User, query.Get("username"), query.Get("password")
		a.hosts = []string{withPort(u.Host, "26379")}
		for _, host := range query["addr"] {
			a.hosts = append(a.hosts, withPort(host, "26379"))
		}
	}
	if database != "" {
		if a.database, err = strconv.Atoi(database); err != nil || a.database < 0 {
			return a, fmt.Errorf("the database is a number, not %q", database)
		}
	}
	return a, nil
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// dial connects to Redis, which Sentinels may have to be asked for.
func (a address) dial(ctx context.Context) (redis.Conn, error) {
	if a.master == "" {
		return redis.DialContext(ctx, a.network, a.hosts[0], a.options()...)
	}
	host, err := a.findMaster(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := redis.DialContext(ctx, "tcp", host, a.options()...)
	if err != nil {
		return nil, err
	}
	if err := isMaster(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (a address) options() []redis.DialOption {
	return append(a.common(), redis.DialUsername(a.user), redis.DialPassword(a.password), redis.DialDatabase(a.database))
}

// common returns the options for connections to Redis and to Sentinels.
func (a address) common() []redis.DialOption {
	return []redis.DialOption{
		redis.DialConnectTimeout(a.timeout), redis.DialReadTimeout(a.timeout), redis.DialWriteTimeout(a.timeout),
		redis.DialUseTLS(a.tls), redis.DialTLSHandshakeTimeout(a.timeout),
	}
}

// findMaster asks the Sentinels, one after the other, where Redis is.
func (a address) findMaster(ctx context.Context) (string, error) {
	var failed error
	for _, host := range a.hosts {
		found, err := a.askSentinel(ctx, host)
		if err == nil {
			return found, nil
		}
		failed = errors.Join(failed, fmt.Errorf("sentinel %s: %w", host, err))
	}
	return "", failed
}

func (a address) askSentinel(ctx context.Context, host string) (master string, err error) {
	password, _ := a.sentinels.Password()
	conn, err := redis.DialContext(ctx, "tcp", host, append(a.common(), redis.DialUsername(a.sentinels.Username()), redis.DialPassword(password))...)
	if err != nil {
		return "", err
	}
	defer conn.Close() // it has answered
	found, err := redis.Strings(conn.Do("SENTINEL", "get-master-addr-by-name", a.master))
	if err == nil && len(found) != 2 {
		err = fmt.Errorf("it does not know %q", a.master)
	}
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(found[0], found[1]), nil
}

// isMaster fails for a server that was replaced, and does not know it yet or is a replica
// now.
func isMaster(conn redis.Conn) error {
	role, err := redis.Values(conn.Do("ROLE"))
	if err != nil {
		return err
	}
	if len(role) == 0 {
		return errors.New("this server does not say what it is")
	}
	name, err := redis.String(role[0], nil)
	if err == nil && name != "master" {
		err = fmt.Errorf("this server is a %s", name)
	}
	return err
}

// test fails for a connection that was broken or became one to a replica while it was not
// used. What happens to those that are used all the time, their calls notice.
func (a address) test(conn redis.Conn, unused time.Time) error {
	if time.Since(unused) < pause {
		return nil
	}
	if a.master != "" {
		return isMaster(conn)
	}
	_, err := conn.Do("PING")
	return err
}
