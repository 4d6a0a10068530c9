package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Tokens are the tokens of a sign-in.
type Tokens struct {
	Wallet  string // lowercase
	Access  string
	Refresh string
	Expires time.Time // of Access
}

// A TokenStore stores tokens between calls. It must be safe for concurrent use.
type TokenStore interface {
	// Tokens returns the tokens that were saved last, or zero Tokens.
	Tokens(ctx context.Context) (Tokens, error)

	// Save stores tokens. Zero Tokens delete the sign-in.
	Save(ctx context.Context, t Tokens) error

	// Lock locks the store against all users, including other processes, until
	// unlock is called: using a refresh token twice revokes the sign-in. Tokens
	// and Save are called while the lock is held, too.
	Lock(ctx context.Context) (unlock func(), err error)
}

// ErrNotSignedIn is returned by calls that need a token if there is neither a
// sign-in nor a wallet to sign in with.
var ErrNotSignedIn = errors.New("this call needs a sign-in, and there is no wallet to sign in with")

// refreshBefore is how long before its expiry a token is replaced.
const refreshBefore = 30 * time.Second

// token returns an access token that has not expired and is not the refused one.
func (c *Client) token(ctx context.Context, refused string) (string, error) {
	t, err := c.tokens.Tokens(ctx)
	if err != nil {
		return "", err
	}
	if c.valid(t, refused) {
		return t.Access, nil
	}
	unlock, err := c.tokens.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if t, err = c.tokens.Tokens(ctx); err != nil { // another caller may have replaced it in the meantime
		return "", err
	}
	if c.valid(t, refused) {
		return t.Access, nil
	}
	if t, err = c.renewed(ctx, t); err != nil {
		return "", err
	}
	return t.Access, c.tokens.Save(ctx, t)
}

func (c *Client) valid(t Tokens, refused string) bool {
	return t.Access != "" && t.Access != refused && c.sameWallet(t) && c.now().Add(refreshBefore).Before(t.Expires)
}

// sameWallet reports whether the tokens belong to the client's wallet, if it has
// one.
func (c *Client) sameWallet(t Tokens) bool {
	return c.wallet == nil || t.Wallet == lower(c.wallet)
}

// renewed uses the refresh token, or signs in again.
func (c *Client) renewed(ctx context.Context, t Tokens) (Tokens, error) {
	if t.Refresh != "" && c.sameWallet(t) {
		next, err := c.Refresh(ctx, t.Refresh)
		if err == nil {
			return Tokens{Wallet: t.Wallet, Access: next.AccessToken, Refresh: next.RefreshToken, Expires: c.now().Add(tokenLifetime)}, nil
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Status != http.StatusUnauthorized || c.wallet == nil {
			return Tokens{}, err
		}
	}
	if c.wallet == nil {
		return Tokens{}, ErrNotSignedIn
	}
	return c.signIn(ctx)
}

// memoryTokens is the default TokenStore, in memory.
type memoryTokens struct {
	turn chan struct{} // holds one value while unlocked
	held chan Tokens   // holds one value: the tokens
}

func newMemoryTokens() *memoryTokens {
	m := &memoryTokens{turn: make(chan struct{}, 1), held: make(chan Tokens, 1)}
	m.turn <- struct{}{}
	m.held <- Tokens{}
	return m
}

func (m *memoryTokens) Tokens(context.Context) (Tokens, error) {
	t := <-m.held
	m.held <- t
	return t, nil
}

func (m *memoryTokens) Save(_ context.Context, t Tokens) error {
	<-m.held
	m.held <- t
	return nil
}

func (m *memoryTokens) Lock(ctx context.Context) (func(), error) {
	select {
	case <-m.turn:
		return func() { m.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
