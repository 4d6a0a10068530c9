package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"deed.example/deed/internal/a2a"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/connlimit"
	"deed.example/deed/internal/feed"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/mcp"
	"deed.example/deed/internal/rdap"
	"deed.example/deed/internal/sqldb"
)

// openHTTP binds the listeners and puts the HTTP interface on the services.
func (a *App) openHTTP(ctx context.Context) error {
	c := &a.config
	if c.Listen == off {
		return nil
	}
	var err error
	callers, visitors := c.connLimits()
	if a.Callers, err = listenLimited("listen", c.Listen, callers, c.Proxies); err != nil {
		return err
	}
	base, err := publicBase(c, a.Callers.Addr())
	if err != nil {
		return err
	}
	if a.API, err = a.newAPI(ctx, base); err != nil {
		return err
	}
	a.API.RDAP = &rdap.Server{Names: a.names, Nameservers: c.Nameservers, Registrar: c.Registrar, Countries: c.registrantCountries(), PublicURL: a.API.PublicURL, Now: a.calendar.Now, Log: a.log}
	if a.API.Discovery, err = newDiscovery(c, a.API); err != nil {
		return err
	}
	if a.API.Page, err = newPage(c, a.API); err != nil {
		return err
	}
	executor := newExecutor(a.API)
	a.API.MCP, a.API.A2A = mcp.NewHandler(executor, mcp.Site{Version: c.Version, PublicURL: a.API.PublicURL, Limits: c.Limits, Sandbox: a.API.Sandbox != nil}), &a2a.Server{Executor: executor, Log: a.log, Sandbox: a.API.Sandbox != nil}
	a.HTTP = a.API.Configure()
	if err := a.listenForOperators(); err != nil {
		return err
	}
	return a.listenForRedirects(visitors)
}

// newAPI returns the HTTP interface of the services.
func (a *App) newAPI(ctx context.Context, base *url.URL) (*httpapi.Server, error) {
	signIn, err := a.newSignIn(ctx, base)
	if err != nil {
		return nil, err
	}
	api := &httpapi.Server{
		Catalog:       a.prices,
		Search:        a.newSearch(),
		Health:        a.newHealth(),
		Limiter:       a.newLimiter(),
		Limits:        a.config.Limits,
		SignIn:        signIn,
		Registrations: a.names,
		Sale:          a.sale,
		Accounts:      a.newAccounts(),
		Events:        a.newEvents(),
		Webhooks:      a.newWebhooks(base),
		Emails:        a.newEmails(base),
		Feeds:         &feed.Service{Store: sqldb.Feeds{DB: a.DB}, Now: a.now},
		Zones:         a.zones,
		Mandates:      a.mandates,
		Propagation:   a.dns.propagation,
		Sandbox:       a.chain.sandbox,
		Trusted:       a.config.Proxies,
		Version:       a.config.Version,
		PublicURL:     base.String(),
		Contact:       a.config.Contact,
		Started:       time.Now(),
		Now:           time.Now,
		Log:           a.log,
		Tracer:        a.tracer,
		Observe:       a.metrics.Observe,
		AccessLog:     a.config.AccessLog,
	}
	a.wirePayments(api)
	if a.money != nil {
		a.money.observe(a.metrics, a.log)
	}
	return api, nil
}

// maxWaiting is how many agents may wait for a job at the same time.
const maxWaiting = 256

// newExecutor returns an executor that calls the HTTP interface of this process.
func newExecutor(api *httpapi.Server) *agent.Executor {
	return &agent.Executor{Caller: agent.Local{Handler: api.Handler()}, Now: time.Now, Pause: sleep, WaitSlots: make(chan struct{}, maxWaiting), Stopping: api.Draining}
}

// listenForOperators opens the private listener, unless it is off.
func (a *App) listenForOperators() error {
	if a.config.MetricsListen == off {
		return nil
	}
	l, err := listen("metrics.listen", a.config.MetricsListen)
	if err != nil {
		return err
	}
	acts, err := a.newOperatorAPI()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", a.metrics.Handler())
	mux.Handle("/debug/pprof/", a.metrics.Handler())
	mux.Handle("/", acts.Handler())
	a.operators = &listening{connlimit.Patient(l), &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)}}
	return nil
}

// listening is a server and its listener.
type listening struct {
	Listener net.Listener
	*http.Server
}

func (l *listening) addr() string { return l.Listener.Addr().String() }

func (l *listening) url() string { return "http://" + l.Listener.Addr().String() }
