package deed

import (
	"context"
	"time"
)

// A Limit allows Max calls per Window. Windows are fixed: they start at whole
// multiples of Window since 1970, for all callers alike.
type Limit struct {
	Name   string // of the counter; calls that share a name share a count
	Max    int
	Window time.Duration

	// Durable counts survive a restart: they are stored in the database.
	Durable bool
}

// Period returns the window in words, such as "a minute".
func (l Limit) Period() string {
	switch l.Window {
	case time.Minute:
		return "a minute"
	case time.Hour:
		return "an hour"
	case 24 * time.Hour:
		return "a day"
	}
	return l.Window.String()
}

// Limits is the table of the interface document, chapter 8, plus Agents: one row,
// one counter.
type Limits struct {
	Search   Limit // per address: search, check
	Register Limit // per address: register, renew, transfer
	DNS      Limit // per wallet: /dns/*, and an owner's other calls
	Account  Limit // per wallet: /account/*, revoke
	SignIn   Limit // per address: nonce, verify, refresh
	Agents   Limit // per address: messages of MCP and A2A; not in the interface document
}

// DefaultLimits returns the figures of the interface document and the default of
// Agents.
func DefaultLimits() Limits {
	return Limits{
		Search:   Limit{Name: "search", Max: 60, Window: time.Minute},
		Register: Limit{Name: "register", Max: 10, Window: 24 * time.Hour, Durable: true},
		DNS:      Limit{Name: "dns", Max: 100, Window: time.Hour},
		Account:  Limit{Name: "account", Max: 30, Window: time.Minute},
		SignIn:   Limit{Name: "signin", Max: 30, Window: time.Minute},
		Agents:   Limit{Name: "agents", Max: 600, Window: time.Minute},
	}
}

// WindowEnd returns the end of the fixed window that contains now.
func WindowEnd(now time.Time, window time.Duration) time.Time {
	seconds := int64(window / time.Second)
	return time.Unix((now.Unix()/seconds+1)*seconds, 0)
}

// A Counter counts calls in fixed windows of whole seconds.
//
// Implementations must be safe for concurrent use and exact: of n calls in one
// window each gets a different count from 1 to n. A window is the one of WindowEnd,
// by the implementation's own clock, and a count is dropped when its window has
// ended. An error means that the count is unknown; the caller must not treat it as
// a refusal. Every implementation passes the suite in cachetest.
type Counter interface {
	// Count adds one to key and returns its count in the current window and
	// the time at which that window ends.
	Count(ctx context.Context, key string, window time.Duration) (n int, reset time.Time, err error)

	// Peek returns the same without adding anything.
	Peek(ctx context.Context, key string, window time.Duration) (n int, reset time.Time, err error)
}
