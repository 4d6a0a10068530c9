package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// How statements are sent to PostgreSQL.
const (
	StatementsAuto       = "auto" // unprepared behind a connection pooler, prepared otherwise
	StatementsPrepared   = "prepared"
	StatementsUnprepared = "unprepared"
)

// PostgresConfig says how to connect to PostgreSQL. A time of 0 means no limit.
//
// The limits are enforced by the server, because a node that is frozen cannot enforce
// its own: a row that it has locked would stop all other nodes.
type PostgresConfig struct {
	URL        string // may name several hosts: the one that accepts writes is used
	DirectURL  string // of PostgreSQL itself, if URL is that of a connection pooler; empty: URL
	MaxConns   int    // of writers; readers have half as many. 0: the driver's default
	Statements string // empty: StatementsAuto

	Timeout          time.Duration // of one transaction, enforced by this process; 0: 2 s
	LockTimeout      time.Duration // to wait for a lock
	StatementTimeout time.Duration
	IdleTimeout      time.Duration // of a transaction whose client sends nothing

	Trace Trace // nil for none
}

// DefaultPostgres has the limits of a service. URL is empty.
func DefaultPostgres() PostgresConfig {
	return PostgresConfig{
		MaxConns: 16, Statements: StatementsAuto,
		Timeout: defaultTimeout, LockTimeout: 1500 * time.Millisecond, StatementTimeout: 30 * time.Second, IdleTimeout: 3 * time.Second,
	}
}

// OpenPostgres connects to the database at url, without limits of the server, and
// migrates its schema. Any number of processes may share it.
func OpenPostgres(ctx context.Context, url string) (*DB, error) {
	return OpenPostgresWith(ctx, PostgresConfig{URL: url})
}

// OpenPostgresWith connects to PostgreSQL and migrates its schema. It fails if the URL
// is that of a connection pooler and there is no direct one.
func OpenPostgresWith(ctx context.Context, c PostgresConfig) (*DB, error) {
	pooled, err := detectPooler(ctx, c)
	if err != nil {
		return nil, err
	}
	if pooled {
		if err := checkDirect(ctx, c); err != nil {
			return nil, err
		}
	}
	db, err := connect(ctx, c, poolOptions{pooled: pooled})
	if err != nil {
		return nil, err
	}
	if err := db.checkWritable(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.pooled = pooled
	if pooled {
		db.limits = c.limitStatements()
	}
	return db.ready(ctx)
}

// checkWritable fails for a server that only reads, such as a standby. Without this, the
// first statement that writes would, and name a setting that is right.
func (db *DB) checkWritable(ctx context.Context) error {
	var readOnly string
	if err := db.write.QueryRowContext(ctx, `SELECT current_setting('transaction_read_only')`).Scan(&readOnly); err != nil {
		return notConnected(err)
	}
	if readOnly == "on" {
		return errors.New("database.url: this PostgreSQL accepts no writes, as a standby does: name the primary, or all hosts, of which the one that does is used")
	}
	return nil
}

// OpenPostgresReadOnly connects to the database read-only, without limits and not
// through a pooler. Its schema must be up to date.
func OpenPostgresReadOnly(ctx context.Context, c PostgresConfig) (*DB, error) {
	c = PostgresConfig{URL: cmp.Or(c.DirectURL, c.URL), Timeout: c.Timeout, Trace: c.Trace}
	db, err := connect(ctx, c, poolOptions{readOnly: true})
	if err != nil {
		return nil, err
	}
	db.readOnly = true
	if err := db.write.PingContext(ctx); err != nil {
		return nil, errors.Join(notConnected(err), db.Close())
	}
	return db, nil
}

// Pooled reports whether PostgreSQL is reached through a connection pooler.
func (db *DB) Pooled() bool { return db.pooled }

// poolOptions are what connections of a pool differ in.
type poolOptions struct{ pooled, readOnly bool }

func (o poolOptions) apply(c PostgresConfig, conf *pgxpool.Config) {
	if c.Trace != nil {
		conf.ConnConfig.Tracer = tracer{c.Trace}
	}
	if !o.pooled && !o.readOnly { // a pooler rejects parameters
		// What a lock was waited for is read as the holder of the lock has left it.
		conf.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
		maps.Copy(conf.ConnConfig.RuntimeParams, c.limitParams())
		maps.Copy(conf.ConnConfig.RuntimeParams, keepaliveParams)
	}
	if c.Statements == StatementsUnprepared || o.pooled && c.Statements != StatementsPrepared {
		conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if o.readOnly {
		// Not a parameter of the connection: target_session_attrs=read-write would
		// take such a connection for one to a standby.
		conf.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `SET default_transaction_read_only = on`)
			return err
		}
	}
}

// connect opens the pools for writes and reads.
func connect(ctx context.Context, c PostgresConfig, options poolOptions) (*DB, error) {
	open := func(maxConns int) (*pgxpool.Pool, error) {
		conf, err := parsePool(c.URL)
		if err != nil {
			return nil, err
		}
		if maxConns > 0 {
			conf.MaxConns = int32(maxConns)
		}
		options.apply(c, conf)
		pool, err := pgxpool.NewWithConfig(ctx, conf)
		if err != nil {
			return nil, fmt.Errorf("open PostgreSQL: %w", err)
		}
		return pool, nil
	}
	direct, err := parsePool(cmp.Or(c.DirectURL, c.URL))
	if err != nil {
		return nil, err
	}
	if !options.pooled && !options.readOnly {
		maps.Copy(direct.ConnConfig.RuntimeParams, keepaliveParams)
	}
	write, err := open(c.MaxConns)
	if err != nil {
		return nil, err
	}
	read, err := open((c.MaxConns + 1) / 2)
	if err != nil {
		write.Close()
		return nil, err
	}
	return &DB{
		Timeout: cmp.Or(c.Timeout, defaultTimeout), dialect: postgres, dial: direct.ConnConfig,
		write: stdlib.OpenDBFromPool(write), read: stdlib.OpenDBFromPool(read),
		poolStats: map[string]func() PoolStats{"write": pgStats(write), "read": pgStats(read)},
		reset:     func() { write.Reset(); read.Reset() },
		release:   func() error { write.Close(); read.Close(); return nil },
	}, nil
}

func pgStats(pool *pgxpool.Pool) func() PoolStats {
	return func() PoolStats {
		s := pool.Stat()
		return PoolStats{Open: int(s.TotalConns()), Used: int(s.AcquiredConns()), Max: int(s.MaxConns()), Waits: s.EmptyAcquireCount()}
	}
}

// CheckURLs returns an error if the addresses cannot be parsed. It connects to neither.
func (c PostgresConfig) CheckURLs() error {
	if _, err := parsePool(c.URL); err != nil {
		return fmt.Errorf("database.url: %w", err)
	}
	if _, err := parsePool(cmp.Or(c.DirectURL, c.URL)); err != nil {
		return fmt.Errorf("database.direct_url: %w", err)
	}
	return nil
}

// parsePool parses the URL of PostgreSQL. Of several hosts, the one that accepts writes
// is used, unless the URL says otherwise.
func parsePool(url string) (*pgxpool.Config, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the address of PostgreSQL: %w", err)
	}
	if !strings.Contains(url, "connect_timeout") {
		conf.ConnConfig.ConnectTimeout = defaultTimeout // for each host
	}
	conf.ConnConfig.DialFunc = keepaliveDialer.DialContext
	if len(conf.ConnConfig.Fallbacks) > 0 && !strings.Contains(url, "target_session_attrs") {
		conf.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return conf, nil
}

// A peer that vanished is noticed after 25 seconds, by either side.
var (
	keepaliveDialer = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}
	keepaliveParams = map[string]string{"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "25000"}
)

// limitParams returns the limits as parameters of a connection.
func (c PostgresConfig) limitParams() map[string]string {
	out := map[string]string{}
	for name, d := range map[string]time.Duration{
		"lock_timeout": c.LockTimeout, "statement_timeout": c.StatementTimeout, "idle_in_transaction_session_timeout": c.IdleTimeout,
	} {
		if d > 0 {
			out[name] = strconv.FormatInt(d.Milliseconds(), 10)
		}
	}
	return out
}

// limitStatements returns statements that set the limits for one transaction. Behind a
// pooler a connection has no session of its own to set them for.
func (c PostgresConfig) limitStatements() []string {
	var calls []string
	for name, ms := range c.limitParams() {
		calls = append(calls, fmt.Sprintf("set_config('%s', '%s', true)", name, ms))
	}
	if len(calls) == 0 {
		return nil
	}
	return []string{"SELECT " + strings.Join(calls, ", ")}
}

// checkPrimary drops all connections when the server has become a standby: new ones
// find the primary.
func (db *DB) checkPrimary(err error) {
	const readOnlyTransaction = "25006"
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == readOnlyTransaction && !db.readOnly && db.reset != nil {
		db.reset()
	}
}
