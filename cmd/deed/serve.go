package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/a2a"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/mcp"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/payment"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/rdap"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

// shutdownTimeout is how long open requests may take to finish when the service
// stops.
const shutdownTimeout = 20 * time.Second

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			log := newLogger(c, cmd.ErrOrStderr())
			slog.SetDefault(log) // for libraries; our code gets its logger explicitly
			return serve(cmd.Context(), c, cmd.OutOrStdout(), log)
		},
	}
	addFlags(cmd)
	return cmd
}

// serve opens the backends, wires the service, and serves until ctx is done.
func serve(ctx context.Context, c *config, out io.Writer, log *slog.Logger) (err error) {
	warned, err := c.check()
	if err != nil {
		return err
	}
	b, err := openBackends(ctx, c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	callers, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen for callers: %w", err)
	}
	defer callers.Close() // the server has closed it already, unless starting failed
	base, err := publicBase(c, callers.Addr())
	if err != nil {
		return err
	}
	counters := metrics.New(version())
	api, err := wire(ctx, c, b, base, counters)
	if err != nil {
		return err
	}
	api.Log = log
	if b.money != nil {
		b.money.watch(counters, log)
	}
	api.RDAP = &rdap.Server{Names: api.Registrations, Nameservers: c.Nameservers, Registrar: c.Registrar, PublicURL: api.PublicURL, Now: b.calendar.Now, Log: log}
	if api.Discovery, err = newDiscovery(c, api); err != nil {
		return err
	}
	executor := newExecutor(api.Handler())
	api.MCP, api.A2A = mcp.NewHandler(executor, version(), api.PublicURL), &a2a.Server{Executor: executor, Log: log, Stopping: api.Draining}
	servers := []*listening{{httpapi.Listen(callers, c.Proxies), api.Configure()}}
	operators, err := listenForOperators(c, counters.Handler(), log)
	if err != nil {
		return err
	}
	servers = append(servers, operators...)
	for _, w := range warned {
		log.Warn(w)
	}
	if err := checkRestored(ctx, b, log); err != nil {
		return err
	}
	worker := startWorker(b, api, counters, log)
	defer worker.stop()
	welcome(out, c, servers, b.chain.sandbox != nil, b.dns.inWords())
	log.Info("serving", "listen", callers.Addr().String(), "version", version())
	return run(ctx, servers, api.Drain, log)
}

// wire builds the services on the backends, and the HTTP server on the services.
func wire(ctx context.Context, c *config, b *backends, base *url.URL, counters *metrics.Metrics) (*httpapi.Server, error) {
	signIn, err := newSignIn(ctx, c, b.db, b.chain, base)
	if err != nil {
		return nil, err
	}
	api := &httpapi.Server{
		Catalog: b.prices,
		Search:  newSearch(b.prices, b.registrar, counters),
		Health: &health.Service{Now: time.Now, Checks: []health.Check{
			{Name: "database", Essential: true, Ping: b.db.Ping},
			{Name: "cache", Ping: b.cache.ping},
			{Name: "registrar", Ping: b.registrar.Ping},
			b.chainCheck(c),
			{Name: "dns", Ping: b.dns.ping()},
		}},
		Limiter: &ratelimit.Limiter{
			Shared:       b.cache,
			Local:        b.local,
			Durable:      sqldb.Limits{DB: b.db, Now: time.Now},
			Now:          time.Now,
			OnCacheError: counters.CacheMissed,
		},
		Limits:    c.Limits,
		SignIn:    signIn,
		Accounts:  &account.Service{Store: sqldb.Accounts{DB: b.db}, Now: b.calendar.Now},
		Sandbox:   b.chain.sandbox,
		Trusted:   c.Proxies,
		Version:   version(),
		PublicURL: base.String(),
		Contact:   c.Contact,
		Started:   time.Now(),
		Now:       time.Now,
		Observe:   counters.Observe,
	}
	api.Registrations, api.Zones, api.Propagation = wireNames(c, b), wireZones(b), b.dns.propagation
	wirePayments(c, b, api)
	return api, nil
}

// errNoTreasury is the error of a node on an external chain without pay_to.
var errNoTreasury = deed.Errorf(deed.CodeUnavailable, "this node takes no payments: its operator has not set pay_to")

// wirePayments sets the payment service. Without a treasury, earlier payments can
// only be read.
func wirePayments(c *config, b *backends, api *httpapi.Server) {
	if b.money != nil {
		api.Payments, api.Terms = b.money.payments, b.money.terms
		api.Payments.Step = failpoint
		return
	}
	row, known := network.ByChainID(c.ChainID) // on a chain that we do not know nothing was ever paid
	api.NotReady = errNoTreasury
	api.Payments = &payment.Service{Store: sqldb.Payments{DB: b.db, ChainID: c.ChainID, Asset: row.Token.Address, Now: b.clock.Now}, Now: b.clock.Now}
	if known {
		api.Terms = httpapi.PaymentTerms{NetworkV1: row.X402V1, NetworkV2: row.CAIP2()}
	}
}

// wireNames returns the registration service.
func wireNames(c *config, b *backends) *registration.Service {
	jobs := sqldb.Jobs{DB: b.db, Now: b.clock.Now, Zones: b.dns.zones}
	held := sqldb.Registrations{DB: b.db, Now: b.calendar.Now, Zones: b.dns.zones}
	names := &registration.Service{
		Store: jobs, Queue: jobs, Finder: jobs, Names: held, Registrar: b.registrar, Manager: b.registrar, Prices: b.prices, Offers: sqldb.Prices{DB: b.db},
		Nameservers: c.Nameservers, Wait: requestWait, Now: b.clock.Now, RegistryNow: b.calendar.Now, Publish: b.dns.publish, Pause: pause, Step: failpoint,
		Moves: sqldb.Moves{DB: b.db, Now: b.calendar.Now}, ParentTTL: c.ParentTTL,
	}
	b.lifecycle = &registration.Lifecycle{Names: held, Manager: b.registrar, Grace: b.prices.GraceDays, Now: b.calendar.Now}
	if b.sandbox != nil {
		b.sandbox.names, b.sandbox.lifecycle = names, b.lifecycle
	}
	return names
}

// pause is the poll interval of a request that waits for a job.
func pause(ctx context.Context) {
	_ = sleep(ctx, 50*time.Millisecond) // the caller checks ctx
}

// newSearch returns the search service. Results of the registrar are cached for a
// few seconds, and no search uses more than a quarter of the concurrent calls.
func newSearch(prices *catalog.Service, registrar catalog.Checker, counters *metrics.Metrics) *catalog.Searcher {
	return &catalog.Searcher{
		Prices:      prices,
		Registrar:   registrar,
		CacheTTL:    3 * time.Second,
		Timeout:     3 * time.Second,
		MaxParallel: 16,
		Slots:       make(chan struct{}, 64),
		OnError:     counters.RegistrarMissed,
		Now:         time.Now,
	}
}

// requestWait is how long an order waits for its job.
const requestWait = 8 * time.Second

// listenForOperators returns the server of the private listener, or none.
func listenForOperators(c *config, h http.Handler, log *slog.Logger) ([]*listening, error) {
	if c.MetricsListen == "off" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("listen for operators: %w", err)
	}
	return []*listening{{l, &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}}}, nil
}

// publicBase returns the public URL of the service.
func publicBase(c *config, addr net.Addr) (*url.URL, error) {
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil {
			return nil, fmt.Errorf("public_url: %w", err)
		}
		u.Path = ""
		return u, nil
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, fmt.Errorf("read our own address: %w", err)
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "localhost" // 0.0.0.0 is not an address to connect to
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}, nil
}

// listening is a server and its listener.
type listening struct {
	Listener net.Listener
	*http.Server
}

func (l *listening) url() string { return "http://" + l.Listener.Addr().String() }

// run serves on all listeners until ctx is done or one of them fails, then lets
// open requests finish.
func run(ctx context.Context, servers []*listening, drain func(), log *slog.Logger) error {
	ended := make(chan error, len(servers))
	for _, s := range servers {
		go func() { ended <- s.Serve(s.Listener) }()
	}
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		log.Info("stopping", "timeout", shutdownTimeout.String())
	}
	drain()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	for _, s := range servers {
		err = errors.Join(err, s.Shutdown(last))
	}
	log.Info("stopped")
	return err
}
