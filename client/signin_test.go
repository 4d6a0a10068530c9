package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed/client"
)

// tokens is a TokenStore that tests can inspect.
type tokens struct {
	lock sync.Mutex // the lock of Lock
	mu   sync.Mutex // guards t
	t    client.Tokens
}

func (s *tokens) Tokens(context.Context) (client.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.t, nil
}

func (s *tokens) Save(_ context.Context, t client.Tokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t = t
	return nil
}

func (s *tokens) Lock(context.Context) (func(), error) {
	s.lock.Lock()
	return s.lock.Unlock, nil
}

func TestAutomaticSignIn(t *testing.T) {
	key, w, store := newKey(t), newWire(t), &tokens{}
	c := open(t, w, client.WithWallet(key), client.WithTokens(store))
	wallet := strings.ToLower(key.Address().Hex())
	for range 3 {
		a, err := c.Account(t.Context())
		if err != nil || a.WalletAddress != wallet {
			t.Fatalf("got %+v, %v", a, err)
		}
	}
	if n := w.count("POST /auth/verify"); n != 1 {
		t.Errorf("got %d sign-ins, want 1", n)
	}
	if store.t.Wallet != wallet || store.t.Expires.Before(time.Now().Add(59*time.Minute)) {
		t.Errorf("got %+v", store.t)
	}
}

// A token that is about to expire is refreshed once, however many callers need
// it; another process with the same store uses the new token.
func TestTokensAreRefreshedOnce(t *testing.T) {
	key, w, store := newKey(t), newWire(t), &tokens{}
	c := open(t, w, client.WithWallet(key), client.WithTokens(store))
	if _, err := c.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.t.Expires = time.Now()
	other := open(t, w, client.WithTokens(store)) // without a wallet
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := []*client.Client{c, other}[i%2].Account(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := w.count("POST /auth/refresh"); n != 1 {
		t.Errorf("got %d refreshes, want 1", n)
	}
	if n := w.count("POST /auth/verify"); n != 1 {
		t.Errorf("got %d sign-ins, want 1", n)
	}
}

// A token that the service rejects before its expiry is replaced, and a revoked
// session is replaced by a new sign-in.
func TestRejectedTokens(t *testing.T) {
	key, w, store := newKey(t), newWire(t), &tokens{}
	c := open(t, w, client.WithWallet(key), client.WithTokens(store))
	if _, err := c.SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.t.Access += "x"
	if _, err := c.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.count("POST /auth/refresh"); n != 1 {
		t.Errorf("got %d refreshes, want 1", n)
	}
	old := store.t
	if out, err := c.Revoke(t.Context()); err != nil || out.Revoked == 0 || store.t != (client.Tokens{}) {
		t.Fatalf("got %+v, %v; kept %+v", out, err, store.t)
	}
	store.t = old
	if _, err := c.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.count("POST /auth/verify"); n != 2 {
		t.Errorf("got %d sign-ins, want 2", n)
	}
	store.t = old
	_, err := open(t, w, client.WithTokens(store)).Account(t.Context())
	refused(t, err, 401, client.CodeTokenInvalid)
}

func TestNoSignIn(t *testing.T) {
	c := open(t, newWire(t))
	if _, err := c.Account(t.Context()); !errors.Is(err, client.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
	if _, err := c.SignIn(t.Context()); !errors.Is(err, client.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
}

// Tokens of one wallet are not used for another.
func TestTokensOfAnotherWallet(t *testing.T) {
	w, store := newWire(t), &tokens{}
	first, second := newKey(t), newKey(t)
	if _, err := open(t, w, client.WithWallet(first), client.WithTokens(store)).SignIn(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := open(t, w, client.WithWallet(second), client.WithTokens(store)).Account(t.Context())
	if err != nil || a.WalletAddress != strings.ToLower(second.Address().Hex()) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// The client does not sign a message for another site.
func TestSignInForAnotherSite(t *testing.T) {
	signer := &counting{Key: newKey(t)}
	c := open(t, newWire(t), client.WithWallet(signer), client.WithSite("deed.example"))
	if _, err := c.SignIn(t.Context()); err == nil || !strings.Contains(err.Error(), "deed.example") {
		t.Errorf("got %v", err)
	}
	if signer.signed != 0 {
		t.Error("it signed")
	}
}

// The site is the host as browsers write it, however the address of the service is written.
func TestSitesOfAddresses(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://deed.example": true, "https://Deed.Example:443": true, "http://deed.example:80": true,
		"http://deed.example:443": false, "https://deed.example:8443": false, "https://deed.example.org": false,
	} {
		c, err := client.New(base, client.WithWallet(newKey(t)), client.WithHTTPClient(&http.Client{Transport: answersOf(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/auth/nonce" {
				io.WriteString(w, `{"nonce":"abcdefghijklmnopq","domain":"deed.example","uri":"https://deed.example","chainId":84532,"version":"1","expiresIn":300}`)
				return
			}
			io.WriteString(w, `{"accessToken":"a","refreshToken":"r"}`)
		})}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.SignIn(t.Context()); (err == nil) != ok {
			t.Errorf("%s: got %v", base, err)
		}
	}
}

// answersOf is a transport that answers itself.
type answersOf http.HandlerFunc

func (f answersOf) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f(w, r)
	return w.Result(), nil
}

// A token is never sent to the target of a redirect.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it went there") }))
	defer elsewhere.Close()
	first := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	store := &tokens{t: client.Tokens{Access: "a.b.c", Expires: time.Now().Add(time.Hour)}}
	c, err := client.New(first.URL, client.WithTokens(store))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Account(t.Context()); err == nil {
		t.Error("got an account")
	} else {
		refused(t, err, 307, "")
	}
}
