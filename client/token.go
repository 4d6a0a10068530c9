package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Tokens are what a sign-in gave.
type Tokens struct {
	Wallet  string // lowercase
	Access  string
	Refresh string
	Expires time.Time // of Access
}

// A TokenStore keeps tokens between calls. It must be safe for concurrent use.
type TokenStore interface {
	// Tokens returns what was saved last, or zero Tokens.
	Tokens(ctx context.Context) (Tokens, error)

	// Save keeps tokens. Zero Tokens forget the sign-in.
	Save(ctx context.Context, t Tokens) error

	// Lock keeps all others out, also other processes that share the store,
	// until unlock is called: a refresh token that is used twice ends the
	// sign-in. Tokens and Save are called while it is held, too.
	Lock(ctx context.Context) (unlock func(), err error)
}

// ErrNotSignedIn is returned by calls that need a token when there is neither a
// sign-in nor a wallet to sign in with.
var ErrNotSignedIn = errors.New("this call needs a sign-in, and there is no wallet to sign in with")

// early is how long before its end a token is replaced.
const early = 30 * time.Second

// token returns an access token that is good, as far as we know, and is not the
// refused one.
func (c *Client) token(ctx context.Context, refused string) (string, error) {
	t, err := c.tokens.Tokens(ctx)
	if err != nil {
		return "", err
	}
	if c.good(t, refused) {
		return t.Access, nil
	}
	unlock, err := c.tokens.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if t, err = c.tokens.Tokens(ctx); err != nil { // another may have replaced it meanwhile
		return "", err
	}
	if c.good(t, refused) {
		return t.Access, nil
	}
	if t, err = c.renewed(ctx, t); err != nil {
		return "", err
	}
	return t.Access, c.tokens.Save(ctx, t)
}

func (c *Client) good(t Tokens, refused string) bool {
	return t.Access != "" && t.Access != refused && c.ours(t) && c.now().Add(early).Before(t.Expires)
}

// ours reports whether tokens are of our wallet, where we have one.
func (c *Client) ours(t Tokens) bool {
	return c.wallet == nil || t.Wallet == lower(c.wallet)
}

// renewed trades the refresh token, or signs in anew.
func (c *Client) renewed(ctx context.Context, t Tokens) (Tokens, error) {
	if t.Refresh != "" && c.ours(t) {
		next, err := c.Refresh(ctx, t.Refresh)
		if err == nil {
			return Tokens{Wallet: t.Wallet, Access: next.AccessToken, Refresh: next.RefreshToken, Expires: c.now().Add(lifetime)}, nil
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

// memoryTokens lives as long as its client.
type memoryTokens struct {
	turn chan struct{} // holds one value while nobody has the lock
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
