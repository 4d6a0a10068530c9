package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"deed.example/deed/internal/httpapi"
)

// shutdownTimeout is how long open requests may take to finish when the service
// stops.
const shutdownTimeout = 20 * time.Second

// Start logs what the operator should know, compares the database with the chain if
// it may be a restored backup, and starts the worker. Close stops it.
func (a *App) Start(ctx context.Context) error {
	for _, w := range a.warnings {
		a.log.Warn(w)
	}
	if err := a.checkRestored(ctx); err != nil {
		return err
	}
	a.worker = a.startWorker()
	return nil
}

// Serve serves callers and operators until ctx is done or a listener fails, then
// lets open requests finish.
func (a *App) Serve(ctx context.Context) error {
	servers := a.publicServers()
	if a.operators != nil {
		servers = append(servers, a.operators)
	}
	a.log.Info("serving", "listen", a.Callers.Addr().String(), "version", a.config.Version)
	return run(ctx, servers, a.API.Drain, a.log)
}

// publicServers returns the servers that strangers reach.
func (a *App) publicServers() []*listening {
	return append([]*listening{{httpapi.Listen(a.Callers, a.API.PublicURL), a.HTTP}}, a.redirects.servers()...)
}

// URL returns where callers reach the listener.
func (a *App) URL() string { return "http://" + a.Callers.Addr().String() }

// OperatorsURL returns where operators reach the private listener; "" if it is off.
func (a *App) OperatorsURL() string {
	if a.operators == nil {
		return ""
	}
	return a.operators.url()
}

// DNS returns the address of the name server; "" if it is off.
func (a *App) DNS() string {
	if a.dns.server == nil {
		return ""
	}
	return a.dns.server.Addr().String()
}

// Sandbox reports whether the money is test money of the embedded chain.
func (a *App) Sandbox() bool { return a.chain.sandbox != nil }

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
