// Package sandbox runs the whole service, as `deed serve` starts it without settings, for
// the programs that measure it. Its ports are chosen by the system, and no limit of calls
// is reached.
package sandbox

import (
	"context"
	"errors"
	"log/slog"

	"deed.example/deed"
	"deed.example/deed/internal/app"
)

// maxCalls is a limit that no program reaches.
const maxCalls = 1_000_000

// Config returns the settings of a sandbox with its data in the folder.
func Config(data, version string, log *slog.Logger) app.Config {
	c := app.Default()
	c.Data, c.Version, c.Log = data, version, log
	c.Listen, c.ChainListen, c.DNSListen, c.MetricsListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "off"
	for _, l := range []*deed.Limit{&c.Limits.Search, &c.Limits.Register, &c.Limits.DNS, &c.Limits.Account, &c.Limits.SignIn, &c.Limits.Agents} {
		l.Max = maxCalls
	}
	return c
}

// A Sandbox is a running service. Make it with Start.
type Sandbox struct {
	*app.App
	stop   context.CancelFunc
	served chan error
}

// Start opens the service and serves until ctx is done or Stop is called.
func Start(ctx context.Context, c app.Config) (*Sandbox, error) {
	a, err := app.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := a.Start(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	serving, stop := context.WithCancel(ctx)
	s := &Sandbox{App: a, stop: stop, served: make(chan error, 1)}
	go func() { s.served <- a.Serve(serving) }()
	return s, nil
}

// Stop ends the service and releases what it has opened. The data stays.
func (s *Sandbox) Stop() error {
	s.stop()
	return errors.Join(<-s.served, s.Close())
}
