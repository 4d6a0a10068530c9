// Package app builds the whole service, once: Open reads a Config, opens the
// database, the cache, the chain, the registrars and the name server, and puts the
// services and the HTTP interface on top of them. The command deed, its admin
// commands, the tests in internal/e2e and the benchmark all use it, so what a test
// shows is what production does with the same configuration.
//
// Open binds the listeners. Start starts the worker, and Serve serves until its
// context is done; a test that wants to control the order of work calls neither, or
// only what it needs. Close undoes what Open and Start did, in reverse order.
//
// Each file opens one part. A new registrar is a row of the table in backends.go.
// Only the simulator in sim/ has its own wiring: it replaces every call to the
// outside, and runs the services on a simulated clock.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/email"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/logcause"
	"deed.example/deed/internal/mailer"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/tracing"
	"deed.example/deed/internal/webhook"
	"deed.example/deed/internal/zone"
)

// An App is the whole service in this process. Make it with Open, and Close it. Its
// exported fields are the parts that commands and tests use directly.
type App struct {
	DB        *sqldb.DB
	API       *httpapi.Server // nil if Listen is off, like HTTP and Callers
	HTTP      *http.Server    // serves API; its timeouts may be changed before Serve
	Callers   net.Listener
	Registry  *local.Registry // the embedded one
	Lifecycle *registration.Lifecycle

	LateOrders *registration.LateOrders // refunded orders that a registry may still execute

	Settler    *chain.Settler     // nil if no payments are taken
	NameServer *nameserver.Server // nil if it is off
	Follower   *zone.Follower     // publishes zones on this node

	Delegations *zone.DSUpdater // publishes DS records at registries

	Webhooks *webhook.Dispatcher // nil if Listen is off
	Emails   *email.Dispatcher   // likewise, and without a mail server

	config    Config
	log       *slog.Logger
	warnings  []string // of the configuration
	metrics   *metrics.Metrics
	tracer    *tracing.Tracer  // nil if nothing is traced
	clock     *sqldb.Clock     // of all nodes
	now       func() time.Time // the clock, unless a test replaces it
	calendar  *sqldb.Calendar  // of the registry; in the sandbox it can be moved
	prices    *catalog.Service
	local     deed.Counter // in memory
	cache     sharedCache
	chain     *chainBackend
	registrar *registrar.Router
	pace      *registrar.Pace  // of comparisons
	attention attention        // names that need an operator
	sandbox   *sandboxRegistry // nil outside a sandbox
	dns       *dnsBackend
	money     *money         // nil if no payments are taken
	mailer    *mailer.Mailer // nil if no e-mail is sent
	names     *registration.Service
	zones     *zone.Service
	engine    *fulfil.Service  // sells what names and zones deliver
	mandates  *mandate.Service // nil if no payments are taken
	operators *listening       // nil if off
	redirects redirects
	worker    *backgroundWorker // nil until Start
	closers   []func() error    // of registrars
	node      sqldb.Node        // this process
	switches  switches          // what operators have stopped
	master    deed.Secret       // the oldest of dns.key: registrars recognise orders by keys derived from it
}

// Open builds the service, or nothing. It fails when the configuration must not
// run. The caller must call Close.
func Open(ctx context.Context, c Config) (*App, error) {
	warnings, err := c.Validate()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("data: make the folder: %w", err)
	}
	c.Log = c.logger()
	tracer, err := tracing.Open(ctx, c.Traces, c.Version, c.Log)
	if err != nil {
		return nil, err
	}
	if tracer != nil {
		c.Database.Trace = c.traceStatements()
	}
	a := &App{config: c, log: c.Log, tracer: tracer, warnings: warnings, metrics: metrics.New(c.Version), local: &memory.Cache{Now: time.Now}}
	err = a.openBackends(ctx)
	if err == nil {
		a.exportBackends()
		a.wireServices()
		a.wireSwitches()
		if err = a.readSwitches(ctx); err == nil {
			err = a.openHTTP(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// logger returns the log, with one line for each cause and minute.
func (c *Config) logger() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	if _, done := c.Log.Handler().(*logcause.Handler); done {
		return c.Log
	}
	return slog.New(logcause.New(tracing.LogHandler{Handler: c.Log.Handler()}, time.Now))
}

// openBackends opens what the services stand on.
func (a *App) openBackends(ctx context.Context) (err error) {
	c := &a.config
	if a.DB, err = openDatabase(ctx, c); err != nil {
		return err
	}
	if a.DB.Observer == nil {
		a.DB.Observer = &observer{a.log, a.metrics}
	}
	if err = a.warnOfLoss(ctx); err != nil {
		return err
	}
	if err = a.openClocks(ctx); err != nil {
		return err
	}
	if err = a.openPrices(ctx); err != nil {
		return err
	}
	if a.cache, err = openCache(c, a.local); err != nil {
		return err
	}
	if a.chain, err = openChain(c, a.log); err != nil {
		return err
	}
	if a.chain.setAhead != nil {
		a.chain.setAhead(a.calendar.ChainAhead())
	}
	if err = a.openMailer(); err != nil {
		return err
	}
	if err = a.openDNS(ctx); err != nil {
		return err
	}
	if err = a.openRegistrars(); err != nil {
		return err
	}
	if err = a.warnOfMissing(ctx); err != nil {
		return err
	}
	a.NameServer, a.Follower, a.Delegations = a.dns.server, a.dns.follower, a.dsUpdater()
	if a.DB.Sealer, err = seal.New(append([]deed.Secret{a.dns.zones.Publishing.Master}, a.dns.zones.Publishing.Earlier...)...); err != nil {
		return err
	}
	if a.money, err = openMoney(ctx, c, a.DB, a.chain, clocks{a.now, a.clock.Now}); err == nil && a.money != nil {
		a.Settler = a.money.settler
	}
	return err
}

// openClocks opens the clock of all nodes and the calendar of the registry.
func (a *App) openClocks(ctx context.Context) error {
	local := a.config.Hooks.LocalNow
	if local == nil {
		local = time.Now
	}
	a.clock = sqldb.NewClock(a.DB, local)
	if err := a.clock.Sync(ctx); err != nil {
		return err
	}
	if a.now = a.config.Hooks.Now; a.now == nil {
		a.now = a.clock.Now
	}
	host, _ := os.Hostname() // only for operators
	a.node = sqldb.NewNode(host, a.config.Version, a.now())
	a.calendar = sqldb.NewCalendar(a.DB, a.now)
	return a.calendar.Sync(ctx)
}

// openPrices publishes the price list; the prices that it replaces remain payable
// for a while.
func (a *App) openPrices(ctx context.Context) (err error) {
	if a.prices, err = a.config.Prices(); err != nil {
		return err
	}
	return a.prices.Publish(ctx, sqldb.Prices{DB: a.DB}, a.now)
}

// Prices returns the price list.
func (c *Config) Prices() (*catalog.Service, error) {
	pricing := c.Pricing
	pricing.Registrar = registrarMarkup(c.EffectiveRegistrars())
	return catalog.New(pricing)
}

// Close stops the worker, closes the listeners and then all backends, in reverse
// order.
func (a *App) Close() (err error) {
	if a.worker != nil {
		a.worker.stop()
		a.removeNode()
	}
	if a.Callers != nil {
		_ = a.Callers.Close() // Serve has closed it already
	}
	if a.operators != nil {
		_ = a.operators.Listener.Close() // likewise
	}
	a.redirects.close()
	a.tracer.Close(a.log)
	err = a.closeRegistrars()
	if a.dns != nil {
		err = errors.Join(err, a.dns.close())
	}
	if a.chain != nil {
		err = errors.Join(err, a.chain.close())
	}
	if a.cache.close != nil {
		err = errors.Join(err, a.cache.close())
	}
	if a.DB != nil && a.config.Hooks.DB == nil {
		err = errors.Join(err, a.DB.Close())
	}
	return err
}
