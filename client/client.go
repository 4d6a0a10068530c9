package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client calls one service for one wallet. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	http    *http.Client
	wallet  Signer // nil: it cannot sign
	cap     *USDC  // nil: it pays nothing
	budget  *Budget
	confirm func(context.Context, Offer) error
	notify  func(error) // that a request is repeated; may be nil
	journal Journal
	tokens  TokenStore
	site    string // the domain of sign-in messages; "": that of base
	agent   string // User-Agent
	now     func() time.Time
}

// An Option configures a Client.
type Option func(*Client)

// WithWallet lets the client sign in and, up to a limit, pay.
func WithWallet(w Signer) Option { return func(c *Client) { c.wallet = w } }

// WithMaxPayment lets the client pay up to this amount per call. Without it, only
// calls with their own price limit are paid.
func WithMaxPayment(limit USDC) Option { return func(c *Client) { c.cap = &limit } }

// WithBudget limits the total of all payments of the client. It is an additional
// limit and does not allow payments: that takes WithMaxPayment or a price limit.
func WithBudget(b *Budget) Option { return func(c *Client) { c.budget = b } }

// WithConfirm calls a function before each payment is signed. If it returns an
// error, nothing is signed, and the caller gets the error.
func WithConfirm(ask func(context.Context, Offer) error) Option {
	return func(c *Client) { c.confirm = ask }
}

// WithRetryNotice calls a function when a request failed and is repeated until it
// succeeds: while WatchJob and WatchEvents wait, and when it is not known whether a
// payment arrived. It is called once for each outage, with the error.
func WithRetryNotice(tell func(error)) Option { return func(c *Client) { c.notify = tell } }

// WithHTTPClient makes calls through h. Redirects are not followed: a token or a
// payment is for one service.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTokens stores the tokens outside the client, so that a sign-in survives the
// process.
func WithTokens(s TokenStore) Option { return func(c *Client) { c.tokens = s } }

// WithJournal stores payments with an unknown outcome outside the client, so that
// another process can repeat them.
func WithJournal(j Journal) Option { return func(c *Client) { c.journal = j } }

// WithSite sets the domain of sign-in messages, if it is not the host of the
// service's URL.
func WithSite(domain string) Option { return func(c *Client) { c.site = domain } }

// WithUserAgent puts the name and version of a program, such as "shop/1.2", before
// those of this package in the User-Agent header.
func WithUserAgent(program string) Option {
	return func(c *Client) { c.agent = program + " " + userAgent() }
}

// New returns a client of the service at base, such as https://deed.example.
func New(base string, opts ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a service: write https://host", base)
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	c := &Client{base: u, http: &http.Client{}, agent: userAgent(), now: time.Now}
	for _, opt := range opts {
		opt(c)
	}
	if c.cap != nil && *c.cap < 0 {
		return nil, errors.New("the maximum payment is negative")
	}
	if c.tokens == nil {
		c.tokens = newMemoryTokens()
	}
	if c.journal == nil {
		c.journal = &memoryJournal{payments: map[string]string{}}
	}
	h := *c.http
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &h
	return c, nil
}

// Base returns the base URL of the service.
func (c *Client) Base() string { return c.base.String() }
