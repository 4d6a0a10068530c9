package client

import (
	"context"
	"net/url"
	"strings"

	"deed.example/deed/api"
)

// Search returns the TLDs under which a label is available: of a standard set by
// default, of all TLDs for "all".
func (c *Client) Search(ctx context.Context, label string, tlds ...string) (api.SearchResult, error) {
	q := url.Values{"query": {label}}
	if len(tlds) > 0 {
		q.Set("tlds", strings.Join(tlds, ","))
	}
	return call[api.SearchResult](ctx, c, request{method: "GET", path: "/domains/search", query: q}, nil)
}

// Check returns the availability of up to 200 names.
func (c *Client) Check(ctx context.Context, domains ...string) (api.CheckResult, error) {
	q := url.Values{"domains": {strings.Join(domains, ",")}}
	return call[api.CheckResult](ctx, c, request{method: "GET", path: "/domains/check", query: q}, nil)
}

// Pricing returns the prices of the given TLDs, or of all.
func (c *Client) Pricing(ctx context.Context, tlds ...string) (api.Pricing, error) {
	q := url.Values{}
	if len(tlds) > 0 {
		q.Set("tlds", strings.Join(tlds, ","))
	}
	return call[api.Pricing](ctx, c, request{method: "GET", path: "/domains/pricing", query: q}, nil)
}

// Price returns the price of one TLD.
func (c *Client) Price(ctx context.Context, tld string) (api.TLDPrice, error) {
	return call[api.TLDPrice](ctx, c, request{method: "GET", path: path("domains", "pricing", tld)}, nil)
}
