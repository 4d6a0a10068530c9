package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"deed.example/deed/api"
)

// A Page selects a part of a list. A Limit of 0 means the default, 50.
//
// With a Cursor, which is the Next of an earlier page or "" for the beginning, a page
// costs the service the same wherever it is in a list of any length; it then has no
// total.
type Page struct {
	Limit, Offset int
	Cursor        *string // nil: Offset counts
}

func (p Page) query() url.Values {
	q := url.Values{}
	if p.Limit > 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Offset > 0 {
		q.Set("offset", strconv.Itoa(p.Offset))
	}
	if p.Cursor != nil {
		q.Set("cursor", *p.Cursor)
	}
	return q
}

// A DomainFilter selects names of a wallet. Empty fields match all.
type DomainFilter struct {
	Status             string
	ExpiringWithinDays int
}

// Account returns the account of the wallet.
func (c *Client) Account(ctx context.Context) (api.Account, error) {
	return call[api.Account](ctx, c, request{method: "GET", path: "/account", bearer: true}, nil)
}

// DomainPage returns a page of the wallet's names.
func (c *Client) DomainPage(ctx context.Context, f DomainFilter, p Page) (api.AccountDomains, error) {
	q := p.query()
	if f.Status != "" {
		q.Set("status", f.Status)
	}
	if f.ExpiringWithinDays > 0 {
		q.Set("expiringWithinDays", strconv.Itoa(f.ExpiringWithinDays))
	}
	return call[api.AccountDomains](ctx, c, request{method: "GET", path: "/account/domains", query: q, bearer: true}, nil)
}

// TransactionPage returns a page of the wallet's payments and refunds, newest
// first.
func (c *Client) TransactionPage(ctx context.Context, p Page) (api.Transactions, error) {
	return call[api.Transactions](ctx, c, request{method: "GET", path: "/account/transactions", query: p.query(), bearer: true}, nil)
}

// Domains yields all names of the wallet, page by page. It stops after an error.
func (c *Client) Domains(ctx context.Context, f DomainFilter) iter.Seq2[api.AccountDomain, error] {
	return pages(func(p Page) ([]api.AccountDomain, string, error) {
		out, err := c.DomainPage(ctx, f, p)
		return out.Domains, out.Next, err
	})
}

// Transactions yields all payments and refunds of the wallet, newest first. It
// stops after an error.
func (c *Client) Transactions(ctx context.Context) iter.Seq2[api.Transaction, error] {
	return pages(func(p Page) ([]api.Transaction, string, error) {
		out, err := c.TransactionPage(ctx, p)
		return out.Transactions, out.Next, err
	})
}

// pageSize is the largest page that the service returns.
const pageSize = 100

func pages[T any](page func(Page) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			list, next, err := page(Page{Limit: pageSize, Cursor: &cursor})
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, v := range list {
				if !yield(v, nil) {
					return
				}
			}
			if next == "" || next == cursor {
				return
			}
			cursor = next
		}
	}
}
