package client

import (
	"context"
	"net/url"
	"strings"

	"deed.example/deed/api"
)

// Search says under which TLDs a label is free: under a standard set when none
// is given, under all of them for "all".
func (c *Client) Search(ctx context.Context, label string, tlds ...string) (api.SearchResult, error) {
	q := url.Values{"query": {label}}
	if len(tlds) > 0 {
		q.Set("tlds", strings.Join(tlds, ","))
	}
	return call[api.SearchResult](ctx, c, request{method: "GET", path: "/domains/search", query: q}, nil)
}

// Check says which of up to 200 names are free.
func (c *Client) Check(ctx context.Context, domains ...string) (api.CheckResult, error) {
	q := url.Values{"domains": {strings.Join(domains, ",")}}
	return call[api.CheckResult](ctx, c, request{method: "GET", path: "/domains/check", query: q}, nil)
}

// Pricing returns the prices of these TLDs, or of all when none is given.
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
