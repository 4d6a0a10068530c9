package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"time"

	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
)

// newSignIn returns the sign-in service for callers of the base URL.
func (a *App) newSignIn(ctx context.Context, base *url.URL) (*signin.Service, error) {
	ring, err := keyfile.Open(a.config.SigninKeysFile(), time.Now)
	if err != nil {
		return nil, fmt.Errorf("signin.keys: %w", err)
	}
	ring.OnError = func(err error) {
		a.log.Error("the changed file of signin.keys cannot be read: the keys that it had before are still in use", "err", err)
	}
	now := a.config.Hooks.SignInNow
	if now == nil {
		now = a.clock.Now // a token of one node is used at another
	}
	sessions := sqldb.NewSessions(a.DB, now)
	prints := map[string]string{}
	for _, key := range ring.Keys() {
		sum := sha256.Sum256([]byte("print " + key.Secret.Reveal()))
		prints[key.ID] = hex.EncodeToString(sum[:8])
	}
	if err := sessions.CheckKeys(ctx, prints); err != nil {
		return nil, fmt.Errorf("signin.keys: %w", err)
	}
	return &signin.Service{
		Store:    sessions,
		Verifier: a.chain,
		Keys:     ring.Keys,
		Site:     signin.Site{Scheme: base.Scheme, Domain: base.Host, URI: base.String(), ChainID: a.config.ChainID},
		Now:      now,
	}, nil
}
