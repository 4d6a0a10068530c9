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
	"deed.example/deed/internal/sandbox"
)

// A service is the service on a filled database, and two of its callers.
type service struct {
	*sandbox.Sandbox
	large, small *client.Client // owners of many names and of a few
}

// openService starts a node as `deed serve` does, with its data in the folder and the
// limits out of the way.
func openService(ctx context.Context, f filler, folder string) (*service, error) {
	c := sandbox.Config(filepath.Join(f.dir, folder), "growth", logger)
	c.DatabaseURL, c.DNSKey = deed.Secret(f.url), f.zoneSecretFile()
	c.Payments.MaxOpen = 1_000_000
	c.ChainRPCURL, c.Hooks.Chain = deed.Secret(f.chain.url), f.chain.Chain
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, err
	}
	node, err := sandbox.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &service{Sandbox: node}
	if s.large, err = s.caller(ctx, largeKey); err == nil {
		s.small, err = s.caller(ctx, smallKey)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
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
