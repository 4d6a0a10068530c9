package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"

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

// EventPage returns at most limit events of the wallet after the cursor, oldest first;
// "" is the beginning.
func (c *Client) EventPage(ctx context.Context, after string, limit int) (api.Events, error) {
	return call[api.Events](ctx, c, request{method: "GET", path: "/account/events", query: eventQuery(after, limit), bearer: true}, nil)
}

func eventQuery(after string, limit int) url.Values {
	q := Page{Limit: limit}.query()
	if after != "" {
		q.Set("after", after)
	}
	return q
}

// Events yields the events of the wallet after the cursor, oldest first, up to the
// newest. It stops after an error. To continue later, remember the cursor of the last
// event.
func (c *Client) Events(ctx context.Context, after string) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		for more := true; more; {
			page, err := c.EventPage(ctx, after, pageSize)
			if err != nil {
				yield(api.Event{}, err)
				return
			}
			for _, e := range page.Events {
				if !yield(e, nil) {
					return
				}
			}
			more, after = page.HasMore, page.Cursor
		}
	}
}

// The least time between two requests of WatchEvents: at most half of what the service
// allows an account, so that its other calls are not refused.
const (
	eventPoll      = 5 * time.Second
	eventReconnect = 2 * time.Second
)

// WatchEvents yields the events of the wallet after the cursor, oldest first, and then
// each one as it happens, without losing or repeating any. It uses the event stream if
// the service offers one, and polls otherwise. It retries until the context is done if the
// service does not respond (WithRetryNotice).
func (c *Client) WatchEvents(ctx context.Context, after string) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		over := false
		take := func(e api.Event) {
			if !over && e.Cursor != after { // a proxy may send an event twice
				after, over = e.Cursor, !yield(e, nil)
			}
		}
		err := c.follow(ctx, watch{
			request: func() request {
				return request{method: "GET", path: "/account/events", query: eventQuery(after, pageSize), bearer: true}
			},
			event: func(data []byte) error {
				e, err := read[api.Event](answer{body: data})
				if err == nil {
					take(e)
				}
				return err
			},
			answer: func(a answer) error {
				page, err := read[api.Events](a)
				for _, e := range page.Events {
					take(e)
				}
				return err
			},
			over: func() bool { return over },
			pause: func(plain bool) time.Duration {
				if plain {
					return eventPoll
				}
				return eventReconnect
			},
		})
		if err != nil {
			yield(api.Event{}, err)
		}
	}
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
