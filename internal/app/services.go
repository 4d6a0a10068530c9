package app

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

var (
	_ registration.Store          = sqldb.Jobs{}
	_ fulfil.JobStore             = sqldb.Jobs{}
	_ fulfil.JobQueue             = sqldb.Jobs{}
	_ registration.Names          = sqldb.Registrations{}
	_ registration.LifecycleStore = sqldb.Registrations{}
)

// jobs returns the orders in the database.
func (a *App) jobs() sqldb.Jobs { return sqldb.Jobs{DB: a.DB, Now: a.now, Zones: a.dns.zones} }

// registrations returns the names in the database.
func (a *App) registrations() sqldb.Registrations {
	return sqldb.Registrations{DB: a.DB, Now: a.calendar.Now, Zones: a.dns.zones}
}

// lateOrders returns the refunded orders that may still be executed.
func (a *App) lateOrders() sqldb.LateOrders { return sqldb.LateOrders{DB: a.DB, Now: a.now} }

// wireServices builds the services that sell names and change zones.
func (a *App) wireServices() {
	jobs, held := a.jobs(), a.registrations()
	a.names = &registration.Service{
		Store: jobs, Names: held, Registrar: a.registrar, Route: a.registrar, Manager: a.registrar, Prices: a.prices, Offers: sqldb.Prices{DB: a.DB},
		Nameservers: a.config.Nameservers, Now: a.now, RegistryNow: a.calendar.Now, Publish: a.dns.publish, Step: a.config.Hooks.Step,
		Moves: sqldb.Moves{DB: a.DB, Now: a.calendar.Now}, ParentTTL: a.config.ParentTTL, KeyRolls: a.dns.zones, Suspensions: sqldb.Operators{DB: a.DB}, Forwards: len(a.config.RedirectAddresses) > 0,
		Cancels: sqldb.Cancellations{DB: a.DB, Now: a.now, Names: held}, CancelsPerWallet: a.config.CancelsPerWallet, MaxLoss: a.config.MaxLoss,
		Registrants: sqldb.Registrants{DB: a.DB, Now: a.now, RegistryNow: a.calendar.Now}, Backend: a.registrar.Backend, Terms: a.config.Terms.Version,
	}
	a.Lifecycle = &registration.Lifecycle{
		Names: held, Manager: a.registrar, Servers: a.config.Nameservers, Pace: a.pace, Grace: a.prices.GraceDays, Now: a.calendar.Now,
		Delete: a.deleteUnpaid, Observe: a.metrics.Compared, Arrived: a.names.Arrived, DS: a.dns.dsOf, Log: a.log,
	}
	a.LateOrders = &registration.LateOrders{Store: a.lateOrders(), Backend: a.registrar.Backend, Now: a.now, RegistryNow: a.calendar.Now, Log: a.log}
	a.zones = a.newZones()
	a.engine = a.newEngine()
	a.mandates = a.newMandates()
	if a.sandbox != nil {
		a.sandbox.jobs, a.sandbox.names, a.sandbox.lifecycle, a.sandbox.mandates = a.engine, a.names, a.Lifecycle, a.mandates
		a.sandbox.zones, a.sandbox.keys = a.dns.zones, a.keyRoller()
	}
}

// newEngine returns the engine that sells what the services deliver. Without a
// treasury, earlier payments can only be read.
func (a *App) newEngine() *fulfil.Service {
	jobs := a.jobs()
	s := &fulfil.Service{Store: a.paymentRows(), Now: a.now}
	if a.money != nil {
		s = a.money.payments
	}
	s.Jobs, s.JobQueue, s.Kinds, s.Wait = jobs, jobs, []order.Kind{a.names, a.zones}, a.config.RequestWait
	s.Pause = func(ctx context.Context, _ order.Job) bool { return sleep(ctx, a.config.PollInterval) == nil }
	return s
}

// paymentRows returns the payments of the configured chain in the database. On a chain that
// we do not know nothing was ever paid.
func (a *App) paymentRows() sqldb.Payments {
	row, _ := network.ByChainID(a.config.ChainID)
	return sqldb.Payments{DB: a.DB, ChainID: a.config.ChainID, Asset: row.Token.Address, Now: a.now}
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

var _ catalog.BulkChecker = (*registrar.Router)(nil)

// newSearch returns the search service.
func (a *App) newSearch() *catalog.Searcher {
	s := a.config.Search
	return &catalog.Searcher{
		Prices:      a.prices,
		Registrar:   a.registrar,
		Names:       a.registrations(),
		CacheTTL:    s.CacheTTL,
		Timeout:     s.Timeout,
		MaxParallel: s.MaxParallel,
		Slots:       make(chan struct{}, s.MaxCalls),
		OnError:     a.metrics.RegistrarMissed,
		Now:         time.Now,
	}
}

// newLimiter returns the counters of calls.
func (a *App) newLimiter() *ratelimit.Limiter {
	return &ratelimit.Limiter{
		Shared:       a.cache,
		Local:        a.local,
		Durable:      sqldb.Limits{DB: a.DB, Now: a.clock.Now},
		Now:          a.clock.Now, // nodes count in the same window
		OnCacheError: a.metrics.CacheMissed,
	}
}

// newAccounts returns the service behind /account.
func (a *App) newAccounts() *account.Service {
	return &account.Service{Store: sqldb.Accounts{DB: a.DB}, Now: a.calendar.Now}
}

// eventPollInterval is how often the stream of a wallet looks for new events.
const eventPollInterval = time.Second

// newEvents returns the service behind /account/events.
func (a *App) newEvents() *event.Service {
	return &event.Service{Store: sqldb.Events{DB: a.DB}, Pause: func(ctx context.Context) error { return sleep(ctx, eventPollInterval) }}
}

// errNoTreasury is the error of a node on an external chain without pay_to.
var errNoTreasury = deed.Errorf(deed.CodeUnavailable, "this node takes no payments: its operator has not set pay_to")

// wirePayments sets the payment service and its terms.
func (a *App) wirePayments(api *httpapi.Server) {
	api.Payments = a.engine
	if a.money != nil {
		api.Terms = a.money.terms
		return
	}
	api.NotReady = errNoTreasury
	if row, known := network.ByChainID(a.config.ChainID); known {
		api.Terms = httpapi.PaymentTerms{NetworkV1: row.X402V1, NetworkV2: row.CAIP2()}
	}
}
