package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"

	"deed.example/deed/api"
)

// tokenLifetime is the lifetime of an access token (interface document, 5).
const tokenLifetime = time.Hour

// Nonce returns the fields of a sign-in message.
func (c *Client) Nonce(ctx context.Context) (api.Nonce, error) {
	return call[api.Nonce](ctx, c, request{method: "GET", path: "/auth/nonce"}, nil)
}

// Verify exchanges a signed message for tokens. SignIn does the whole sign-in.
func (c *Client) Verify(ctx context.Context, in api.VerifyRequest) (api.TokenSet, error) {
	return call[api.TokenSet](ctx, c, request{method: "POST", path: "/auth/verify"}, in)
}

// Refresh exchanges a refresh token, which can be used once, for new tokens. Calls
// that need a token do so automatically.
func (c *Client) Refresh(ctx context.Context, refreshToken string) (api.TokenSet, error) {
	return call[api.TokenSet](ctx, c, request{method: "POST", path: "/auth/refresh"}, api.RefreshRequest{RefreshToken: refreshToken})
}

// SignIn signs in and stores the tokens. Calls that need a token do so
// automatically if there is none.
func (c *Client) SignIn(ctx context.Context) (Tokens, error) {
	if c.wallet == nil {
		return Tokens{}, ErrNotSignedIn
	}
	unlock, err := c.tokens.Lock(ctx)
	if err != nil {
		return Tokens{}, err
	}
	defer unlock()
	t, err := c.signIn(ctx)
	if err != nil {
		return Tokens{}, err
	}
	return t, c.tokens.Save(ctx, t)
}

// Revoke ends all sessions of the wallet, on every machine.
func (c *Client) Revoke(ctx context.Context) (api.Revoked, error) {
	out, err := call[api.Revoked](ctx, c, request{method: "POST", path: "/auth/revoke", bearer: true}, nil)
	if err != nil {
		return out, err
	}
	return out, c.tokens.Save(ctx, Tokens{})
}

func (c *Client) signIn(ctx context.Context) (Tokens, error) {
	n, err := c.Nonce(ctx)
	if err != nil {
		return Tokens{}, err
	}
	if err := c.checkSite(n.Domain); err != nil {
		return Tokens{}, err
	}
	if strings.ContainsFunc(n.Domain+n.URI+n.Version+n.Nonce, unicode.IsControl) {
		return Tokens{}, errors.New("the service wants lines of its own in the message to sign")
	}
	text := message(n, c.wallet.Address().Hex(), c.now())
	sig, err := c.wallet.SignMessage(ctx, text)
	if err != nil {
		return Tokens{}, fmt.Errorf("sign in: %w", err)
	}
	set, err := c.Verify(ctx, api.VerifyRequest{Message: text, Signature: "0x" + hex.EncodeToString(sig)})
	if err != nil {
		return Tokens{}, err
	}
	return Tokens{Wallet: lower(c.wallet), Access: set.AccessToken, Refresh: set.RefreshToken, Expires: c.now().Add(tokenLifetime)}, nil
}

// message returns the text to sign (EIP-4361), without a statement.
func message(n api.Nonce, address string, now time.Time) string {
	return fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: %s\nChain ID: %d\nNonce: %s\nIssued At: %s",
		n.Domain, address, n.URI, n.Version, n.ChainID, n.Nonce, now.UTC().Format(time.RFC3339))
}

// checkSite fails if the message is for a site other than the service: a malicious
// service could use the signature to sign in there (phishing). A service on this
// machine may use its public domain.
func (c *Client) checkSite(domain string) error {
	want := c.site
	if want == "" {
		want = origin(c.base)
	}
	if strings.EqualFold(domain, want) || c.site == "" && loopback(c.base.Hostname()) {
		return nil
	}
	return fmt.Errorf("the service at %s wants a sign-in for %s: call it by that name, or name the site", want, domain)
}

// origin returns the host of a URL as browsers write it: in A-labels, without the default
// port.
func origin(u *url.URL) string {
	host := u.Host
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	if ascii, err := idna.ToASCII(strings.ToLower(host)); err == nil {
		return ascii
	}
	return host
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func lower(w Signer) string { return strings.ToLower(w.Address().Hex()) }
