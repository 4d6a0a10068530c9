package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/app"
)

// A service is the service on a filled database, and two of its callers.
type service struct {
	*app.App
	stop         context.CancelFunc
	served       chan error
	large, small *client.Client // owners of many names and of a few
}

// openService starts a node as `deed serve` does, with its data in the folder and the
// limits out of the way.
func openService(ctx context.Context, f filler, folder string) (*service, error) {
	c := app.Default()
	c.Data, c.Version, c.DatabaseURL, c.DNSKey = filepath.Join(f.dir, folder), "growth", deed.Secret(f.url), f.zoneSecretFile()
	c.Log = logger
	c.Payments.MaxOpen = 1_000_000
	c.ChainRPCURL, c.Hooks.Chain = deed.Secret(f.chain.url), f.chain.Chain
	c.Listen, c.ChainListen, c.DNSListen, c.MetricsListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "off"
	for _, l := range []*deed.Limit{&c.Limits.Search, &c.Limits.Register, &c.Limits.DNS, &c.Limits.Account, &c.Limits.SignIn, &c.Limits.Agents} {
		l.Max = 1_000_000
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, err
	}
	a, err := app.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := a.Start(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	serving, stop := context.WithCancel(ctx)
	s := &service{App: a, stop: stop, served: make(chan error, 1)}
	go func() { s.served <- a.Serve(serving) }()
	if s.large, err = s.caller(ctx, largeKey); err == nil {
		s.small, err = s.caller(ctx, smallKey)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// caller returns a client that has signed in and has money.
func (s *service) caller(ctx context.Context, hex string) (*client.Client, error) {
	key, err := client.ParseKey(hex)
	if err != nil {
		return nil, err
	}
	c, err := client.New(s.URL(), client.WithWallet(key), client.WithMaxPayment(100_000_000))
	if err != nil {
		return nil, err
	}
	for range 10 {
		if _, err := c.Faucet(ctx, api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
			return nil, err
		}
	}
	_, err = c.SignIn(ctx)
	return c, err
}

func (s *service) close() error {
	s.stop()
	return errors.Join(<-s.served, s.Close())
}

// A call is something that a caller does; i is different each time.
type call struct {
	what  string
	times int
	do    func(ctx context.Context, i int) error
}

func (s *service) calls() []call {
	small := func(i int) string { return domain(largeOwner + i%smallOwner) }
	return []call{
		{"search", 200, func(ctx context.Context, i int) error { return fails(s.small.Search(ctx, fmt.Sprintf("free%d", i))) }},
		{"sign in", 100, func(ctx context.Context, _ int) error { return fails(s.small.SignIn(ctx)) }},
		{"a name", 200, func(ctx context.Context, i int) error { return fails(s.small.Domain(ctx, small(i))) }},
		{"records of a name", 200, func(ctx context.Context, i int) error {
			return fails(s.small.Records(ctx, small(i), client.RecordFilter{}))
		}},
		{"revisions of a name", 200, func(ctx context.Context, i int) error { return fails(s.small.Revisions(ctx, small(i))) }},
		{"RDAP", 200, func(ctx context.Context, i int) error { return fails(s.small.RDAP(ctx, small(i))) }},
		{"account, small wallet", 200, func(ctx context.Context, _ int) error { return fails(s.small.Account(ctx)) }},
		{"names, small wallet", 200, func(ctx context.Context, _ int) error {
			return fails(s.small.DomainPage(ctx, client.DomainFilter{}, client.Page{}))
		}},
		{"transactions, small wallet", 200, func(ctx context.Context, _ int) error { return fails(s.small.TransactionPage(ctx, client.Page{})) }},
		{"events, small wallet", 200, func(ctx context.Context, _ int) error { return fails(s.small.EventPage(ctx, "", 50)) }},
		{"account, large wallet", 100, func(ctx context.Context, _ int) error { return fails(s.large.Account(ctx)) }},
		{"names, large wallet", 100, func(ctx context.Context, _ int) error {
			return fails(s.large.DomainPage(ctx, client.DomainFilter{}, client.Page{}))
		}},
		{"transactions, large wallet", 100, func(ctx context.Context, _ int) error { return fails(s.large.TransactionPage(ctx, client.Page{})) }},
		{"paid change of a zone", 50, func(ctx context.Context, i int) error {
			return fails(s.small.AddRecord(ctx, small(i), api.RecordRequest{Type: "TXT", Host: fmt.Sprintf("growth%d", i), Value: strings.Repeat("x", 40)}))
		}},
		{"registration", 20, func(ctx context.Context, i int) error {
			return fails(s.small.Register(ctx, api.RegisterRequest{Domain: fmt.Sprintf("growth%d.com", i)}))
		}},
	}
}

// fails drops what a call returned besides its error.
func fails[T any](_ T, err error) error { return err }
