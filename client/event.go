package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"deed.example/deed/api"
)

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
			more, after = page.HasMore && page.Cursor != after, page.Cursor
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
				e, err := read[api.Event](answer{status: http.StatusOK, body: data})
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
