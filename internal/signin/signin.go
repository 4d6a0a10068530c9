// Package signin authenticates wallets (EIP-4361) and issues tokens.
//
// The steps are: issue a nonce; parse the message that the wallet signed; check its
// domain, its time and its nonce; verify the signature; then, in one transaction,
// consume the nonce and create the session. Invariants: a nonce opens at most one
// session, a refresh token is exchanged at most once, and after a revocation no token
// of the wallet is valid, on any node, immediately.
package signin

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
)

const (
	clockSkew = 10 * time.Minute // how far a wallet's clock may be off
	maxSigned = 8 << 10          // bytes of a signature; contract wallets may need many
)

// Store stores sessions.
type Store interface {
	// CreateSession consumes the nonce and stores the session, in one
	// transaction. It returns the generation of the wallet's tokens. It fails
	// with CodeValidation when the nonce was used before. If the wallet has
	// MaxSessions, those that were refreshed the longest time ago end: EndedAtOnce.
	CreateSession(ctx context.Context, s Session) (generation int64, err error)

	// RotateRefresh replaces the token with the hash by next, once. It fails with
	// CodeTokenExpired when that is unused and expired, and with CodeTokenInvalid
	// when it is unknown, used or revoked. Reusing a token revokes its family, for
	// RefreshLifetime at least after its use; later it may be unknown.
	RotateRefresh(ctx context.Context, hash string, next RefreshToken) (w deed.Wallet, generation int64, err error)

	// RevokeWallet revokes every token of the wallet and returns how many sessions
	// that ended.
	RevokeWallet(ctx context.Context, w deed.Wallet, at time.Time) (sessions int, err error)

	// Generation returns the generation that the wallet's tokens must have.
	Generation(ctx context.Context, w deed.Wallet) (int64, error)

	// NoteActivity stores that the wallet was active at a time, at most once a minute.
	NoteActivity(ctx context.Context, w deed.Wallet, at time.Time) error
}

// A Verifier verifies that a wallet signed a hash: by its key, or, for a contract, by
// ERC-1271. An error means that the result is unknown.
type Verifier interface {
	Signed(ctx context.Context, w deed.Wallet, hash [32]byte, signature []byte) (bool, error)
}

// A Site is the identity of this service in a sign-in message.
type Site struct {
	Scheme  string // "https"
	Domain  string // host, with the port if it is not the default
	URI     string
	ChainID uint64
}

// Service signs wallets in. Fill every exported field.
type Service struct {
	Store    Store
	Verifier Verifier
	Keys     func() []TokenKey // the first signs new tokens, all verify; never empty
	Site     Site
	Now      func() time.Time

	seen seenTokens
}

// Tokens are the tokens issued for a sign-in.
type Tokens struct {
	Wallet  deed.Wallet
	Access  string
	Refresh string
}

// Nonce returns a new nonce. It stores nothing.
func (s *Service) Nonce() Nonce { return newNonce(s.Keys()[0], s.Now()) }

// SignIn exchanges a signed message for tokens. It fails with CodeValidation
// when the message or the signature is not acceptable.
func (s *Service) SignIn(ctx context.Context, message, signature string) (Tokens, error) {
	now := s.Now()
	m, err := ParseMessage(message)
	if err != nil {
		return Tokens{}, deed.Invalid("message", "this is not a sign-in message (EIP-4361): %v", err)
	}
	if err := s.check(m, now); err != nil {
		return Tokens{}, err
	}
	ends, valid := checkNonce(s.Keys(), m.Nonce, now)
	if !valid {
		return Tokens{}, deed.WithNext(
			deed.Invalid("message", "its nonce was not issued by this service or is older than %d minutes: sign in with a new one", int(NonceLifetime.Minutes())),
			deed.Next{Action: deed.ActionSignIn})
	}
	raw, err := parseSignature(signature)
	if err != nil {
		return Tokens{}, err
	}
	good, err := s.Verifier.Signed(ctx, m.Wallet, m.Hash(), raw)
	if err != nil {
		return Tokens{}, fmt.Errorf("check the signature of %s: %w", m.Wallet, err)
	}
	if !good {
		return Tokens{}, deed.Invalid("signature", "%s did not sign this message", m.Wallet)
	}
	refresh, kept := newRefresh(now)
	generation, err := s.Store.CreateSession(ctx, Session{
		Wallet: m.Wallet, Family: rand.Text(), Nonce: Nonce(m.Nonce), NonceEnds: ends, Refresh: kept,
	})
	if err != nil {
		return Tokens{}, fmt.Errorf("create the session of %s: %w", m.Wallet, err)
	}
	return s.tokens(m.Wallet, generation, refresh, now)
}

// check compares a message with the site and the time.
func (s *Service) check(m Message, now time.Time) error {
	says := func(format string, args ...any) error { return deed.Invalid("message", format, args...) }
	switch {
	case !strings.EqualFold(m.Domain, s.Site.Domain):
		return says("it is for %s, and must be for %s", m.Domain, s.Site.Domain)
	case m.Scheme != "" && m.Scheme != s.Site.Scheme:
		return says("its scheme is %s, and must be %s", m.Scheme, s.Site.Scheme)
	case m.URI != s.Site.URI:
		return says("its URI is %s, and must be %s", m.URI, s.Site.URI)
	case m.ChainID != s.Site.ChainID:
		return says("its chain ID is %d, and must be %d", m.ChainID, s.Site.ChainID)
	case m.IssuedAt.Before(now.Add(-clockSkew)) || m.IssuedAt.After(now.Add(clockSkew)):
		return says("it was issued at %s and now it is %s: check your clock", m.IssuedAt.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case m.Expires != nil && !now.Before(*m.Expires):
		return says("it has expired: sign a new one")
	case m.NotBefore != nil && now.Before(*m.NotBefore):
		return says("it is not valid yet")
	}
	return nil
}

func parseSignature(text string) ([]byte, error) {
	digits, prefixed := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if err != nil || !prefixed || len(raw) == 0 || len(raw) > maxSigned {
		return nil, deed.Invalid("signature", "write it as 0x and hex digits, at most %d bytes", maxSigned)
	}
	return raw, nil
}

// Refresh exchanges a refresh token for a new pair, once. It fails with
// CodeTokenExpired or CodeTokenInvalid.
func (s *Service) Refresh(ctx context.Context, token string) (Tokens, error) {
	now := s.Now()
	refresh, kept := newRefresh(now)
	w, generation, err := s.Store.RotateRefresh(ctx, hashOf(token), kept)
	if err != nil {
		return Tokens{}, fmt.Errorf("exchange a refresh token: %w", err)
	}
	return s.tokens(w, generation, refresh, now)
}

func (s *Service) tokens(w deed.Wallet, generation int64, refresh string, now time.Time) (Tokens, error) {
	access, err := s.newAccess(w, generation, now)
	if err != nil {
		return Tokens{}, fmt.Errorf("sign an access token: %w", err)
	}
	return Tokens{Wallet: w, Access: access, Refresh: refresh}, nil
}

// Revoke revokes every token of the wallet and returns how many sessions it ended.
func (s *Service) Revoke(ctx context.Context, w deed.Wallet) (int, error) {
	n, err := s.Store.RevokeWallet(ctx, w, s.Now())
	if err != nil {
		return 0, fmt.Errorf("revoke the tokens of %s: %w", w, err)
	}
	return n, nil
}

// Authenticate returns the wallet of an access token, which is active now. It fails with
// CodeTokenInvalid or CodeTokenExpired.
func (s *Service) Authenticate(ctx context.Context, token string) (deed.Wallet, error) {
	now := s.Now()
	c, err := s.readAccess(token, now)
	if err != nil {
		return "", err
	}
	w := deed.Wallet(c.Subject)
	generation, err := s.Store.Generation(ctx, w)
	if err != nil {
		return "", fmt.Errorf("read the generation of %s: %w", w, err)
	}
	if generation != c.Generation {
		return "", Refusal(deed.CodeTokenInvalid, "the tokens of this wallet were revoked: sign in again")
	}
	_ = s.Store.NoteActivity(ctx, w, now) // a call does not fail because its time cannot be stored
	return w, nil
}
