// Package feed publishes the expiries of a wallet's names as a calendar (iCalendar,
// RFC 5545), for calendar programs, which cannot sign in.
//
// The address of a feed contains a random token and works like a password, so it is
// shown once, when it is created, and only a hash of the token is stored. A new address
// replaces the previous one.
package feed

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"deed.example/deed"
)

// A Domain is a name in a feed.
type Domain struct {
	Name    deed.Name
	Expires time.Time
}

// Store stores the tokens of feeds, as hashes.
type Store interface {
	// SetToken gives the wallet a feed, which replaces its previous one.
	SetToken(ctx context.Context, owner deed.Wallet, hash string, at time.Time) error

	// Created returns when the wallet's feed was created, or CodeNotFound.
	Created(ctx context.Context, owner deed.Wallet) (time.Time, error)

	// Revoke deletes the feed of the wallet, or fails with CodeNotFound.
	Revoke(ctx context.Context, owner deed.Wallet) error

	// Domains returns the names of the wallet whose feed has the token, or
	// CodeNotFound. Names that were transferred away or deleted are not included.
	Domains(ctx context.Context, hash string) ([]Domain, error)
}

// Service manages and renders feeds. Fill every field.
type Service struct {
	Store Store
	Now   func() time.Time
}

// Create gives the wallet a feed, which replaces its previous one, and returns the
// token.
func (s *Service) Create(ctx context.Context, owner deed.Wallet) (token string, created time.Time, err error) {
	b := make([]byte, 32)
	rand.Read(b) // never fails (crypto/rand)
	token, created = base64.RawURLEncoding.EncodeToString(b), s.Now().Truncate(time.Second)
	if err := s.Store.SetToken(ctx, owner, hashOf(token), created); err != nil {
		return "", created, fmt.Errorf("store the feed of %s: %w", owner, err)
	}
	return token, created, nil
}

// Created returns when the wallet's feed was created, or CodeNotFound.
func (s *Service) Created(ctx context.Context, owner deed.Wallet) (time.Time, error) {
	return s.Store.Created(ctx, owner)
}

// Revoke deletes the feed of the wallet: from now on its address returns 404.
func (s *Service) Revoke(ctx context.Context, owner deed.Wallet) error {
	return s.Store.Revoke(ctx, owner)
}

// Calendar returns the feed with the token.
func (s *Service) Calendar(ctx context.Context, token string) ([]byte, error) {
	names, err := s.Store.Domains(ctx, hashOf(token))
	if err != nil {
		return nil, fmt.Errorf("read the names of a feed: %w", err)
	}
	return render(names, s.Now()), nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
