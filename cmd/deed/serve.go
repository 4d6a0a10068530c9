package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/metrics"
)

// lastRequests is how long requests that are under way may take to finish when
// the service is told to stop.
const lastRequests = 20 * time.Second

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
			return serve(cmd.Context(), c, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addFlags(cmd)
	return cmd
}

// serve opens the backends, wires the house, and answers until ctx is done.
func serve(ctx context.Context, c *config, out, logs io.Writer) (err error) {
	log := newLogger(c, logs)
	db, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	local := &memory.Cache{Now: time.Now}
	cache, err := openCache(c, local)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.close()) }()
	prices, err := catalog.New(c.Pricing)
	if err != nil {
		return err
	}
	counters := metrics.New(version())
	api := &httpapi.Server{
		Catalog: prices,
		Health: &health.Service{Now: time.Now, Checks: []health.Check{
			{Name: "database", Essential: true, Ping: db.Ping},
			{Name: "cache", Ping: cache.ping},
			{Name: "registrar"},
			{Name: "chain"},
			{Name: "dns"},
		}},
		Limiter: newLimiter(db, cache, local, counters.CacheMissed),
		Limits:  c.Limits,
		SignIn:  noSignIn,
		Trusted: c.Proxies,
		Version: version(),
		Started: time.Now(),
		Now:     time.Now,
		Log:     log,
		Observe: counters.Observe,
	}
	for _, w := range warnings(c) {
		log.Warn(w)
	}
	return listen(ctx, c, api, counters.Handler(), log, out)
}

// noSignIn stands where the use case of signing in will.
func noSignIn(context.Context, string) (deed.Wallet, error) {
	return "", deed.Errorf(deed.CodeUnavailable, "signing in is not built yet: docs/routes.md says what is")
}

// listen answers on both listeners until ctx is done, then lets the requests
// that are under way finish.
func listen(ctx context.Context, c *config, api *httpapi.Server, operators http.Handler, log *slog.Logger, out io.Writer) error {
	public, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen for callers: %w", err)
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + public.Addr().String()
	}
	api.PublicURL = c.PublicURL
	servers := []*http.Server{api.Configure()}
	listeners := []net.Listener{httpapi.Listen(public, c.Proxies)}
	private := "off"
	if c.MetricsListen != "off" {
		l, err := net.Listen("tcp", c.MetricsListen)
		if err != nil {
			return errors.Join(fmt.Errorf("listen for operators: %w", err), public.Close())
		}
		private = "http://" + l.Addr().String()
		servers = append(servers, &http.Server{Handler: operators, ReadHeaderTimeout: 5 * time.Second})
		listeners = append(listeners, l)
	}
	ended := make(chan error, len(servers))
	for i, s := range servers {
		go func() { ended <- s.Serve(listeners[i]) }()
	}
	welcome(out, c, public.Addr(), private)
	log.Info("serving", "listen", public.Addr().String(), "version", version())

	select {
	case err = <-ended:
	case <-ctx.Done():
		log.Info("stopping", "patience", lastRequests.String())
	}
	api.Drain()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	for _, s := range servers {
		err = errors.Join(err, s.Shutdown(last))
	}
	log.Info("stopped")
	return err
}
