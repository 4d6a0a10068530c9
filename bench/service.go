package main

import (
	"context"
	"errors"
	"os"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/httpapi"
)

// A service is the service as app.Open builds it, in a temporary folder. It takes no
// payments, and its worker does not run.
type service struct {
	*app.App
	dir  string
	addr string // of its HTTP interface
}

// openService opens a service on SQLite and serves its HTTP interface.
func openService() (*service, error) { return openServiceOn("") }

// openServiceOn is openService on PostgreSQL, unless the URL is empty.
func openServiceOn(database string) (*service, error) {
	dir, err := os.MkdirTemp("", "deed-bench")
	if err != nil {
		return nil, err
	}
	c := app.Default()
	c.Data, c.Version, c.PublicURL, c.DatabaseURL = dir, "bench", "https://deed.example", deed.Secret(database)
	c.Listen, c.MetricsListen, c.DNSListen = "127.0.0.1:0", "off", "off"
	c.ChainRPCURL, c.AllowEmbedded = "http://127.0.0.1:1", true // plain wallets need no chain
	c.Search.Timeout = time.Minute
	// Never reached, and the number of digits in the headers stays the same.
	c.Limits.SignIn.Max, c.Limits.Search.Max = 2_000_000_000, 2_000_000_000
	a, err := app.Open(context.Background(), c)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() { _ = a.HTTP.Serve(httpapi.Listen(a.Callers, a.API.PublicURL)) }() // close ends it
	return &service{App: a, dir: dir, addr: a.Callers.Addr().String()}, nil
}

// close closes the service and removes its folder.
func (s *service) close() error {
	return errors.Join(s.HTTP.Close(), s.Close(), os.RemoveAll(s.dir))
}
