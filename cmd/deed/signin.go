package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
)

func keysFile(c *config) string {
	if c.SigninKeys != "" {
		return c.SigninKeys
	}
	return filepath.Join(c.Data, "signin.keys")
}

func newSignIn(ctx context.Context, c *config, db *sqldb.DB, verifier signin.Verifier, base *url.URL) (*signin.Service, error) {
	ring, err := keyfile.Open(keysFile(c), time.Now)
	if err != nil {
		return nil, err
	}
	sessions := sqldb.NewSessions(db, time.Now)
	prints := map[string]string{}
	for _, key := range ring.Keys() {
		sum := sha256.Sum256([]byte("print " + key.Secret.Reveal()))
		prints[key.ID] = hex.EncodeToString(sum[:8])
	}
	if err := sessions.CheckKeys(ctx, prints); err != nil {
		return nil, err
	}
	return &signin.Service{
		Store:    sessions,
		Verifier: verifier,
		Keys:     ring.Keys,
		Site:     signin.Site{Scheme: base.Scheme, Domain: base.Host, URI: base.String(), ChainID: c.ChainID},
		Now:      time.Now,
	}, nil
}

// keysCommand rotates the token keys.
func keysCommand() *cobra.Command {
	keys := &cobra.Command{Use: "keys", Short: "Look after the keys of tokens"}
	keys.AddCommand(&cobra.Command{
		Use:   "rotate FILE",
		Short: "Put a new key first in FILE; running nodes use it within a second and go on taking the old ones",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return keyfile.Rotate(args[0]) },
	})
	return keys
}
