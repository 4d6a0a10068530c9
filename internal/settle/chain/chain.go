// Package chain asks an EVM chain, over any JSON-RPC endpoint, and moves USDC
// on it.
//
// Client answers whether a wallet signed. A plain wallet is answered by
// arithmetic, one made of code answers for itself (ERC-1271, ERC-6492), in one
// call that changes nothing and is bounded in gas, time and number. When the
// chain does not answer, nobody knows, and that is an error, never a no.
//
// Settler settles payments and refunds, each in a lane of its own. Callers wait,
// and one of them works for all of its lane, in rounds: look at the final block,
// and answer those whose fate it shows; for the others, simulate the transfer,
// store the signed transaction with its nonce, and only then send it. What is
// signed is sent until it is mined. What was mined is never stored: the chain is
// asked each time, so a crash, a lost answer, a stranger who was faster, a
// restored backup and a reorganisation are one case. A payment is settled by its
// logs alone, and refused only when the final block shows that the money cannot
// move any more.
//
// Strangers write to the chain, so no answer is trusted to be small: logs are
// asked for by token, topics and block range, and a range that is refused is
// halved. Receipts are read of our own transactions only.
package chain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

const (
	callTimeout  = 5 * time.Second  // for one answer, unless somebody says otherwise
	retryTimeout = 15 * time.Second // for all tries of one call
	maxAnswer    = 4 << 20          // bytes
	maxAtOnce    = 8                // calls under way
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// Client asks one endpoint, and another one when that does not answer. Make one
// with Dial, and change its fields before the first use only.
type Client struct {
	Timeout   time.Duration // for one answer, the wait for a slot included
	Retry     time.Duration // for all tries of a call that the endpoint is too busy for
	Backoff   time.Duration // before the second try; it doubles each time
	MaxAnswer int64         // bytes
	ChainID   uint64        // that every endpoint must be on; 0 for that of the first

	endpoints *endpoints
	slots     chan struct{} // holds a token for each call under way
}

// Dial returns a client for the endpoints at the given addresses, all of one
// chain, the preferred one first. It does not connect.
func Dial(urls ...string) *Client {
	transport := &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: maxAtOnce, IdleConnTimeout: time.Minute},
		// An endpoint that sends us elsewhere is not the one we were told of.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c := &Client{
		Timeout: callTimeout, Retry: retryTimeout, Backoff: firstBackoff, MaxAnswer: maxAnswer,
		endpoints: &endpoints{http: transport}, slots: make(chan struct{}, maxAtOnce),
	}
	for i, url := range urls {
		c.endpoints.all = append(c.endpoints.all, &endpoint{number: i + 1, url: url})
	}
	return c
}

// SetLogger makes the client say which endpoints it does not use, and why. It
// may be called at any time.
func (c *Client) SetLogger(log *slog.Logger) { c.endpoints.log.Store(log) }

// separate returns a client of the same endpoints with slots of its own.
func (c *Client) separate(slots int) *Client {
	other := *c
	other.slots = make(chan struct{}, slots)
	return &other
}

// Calls returns how many requests were sent to the endpoints.
func (c *Client) Calls() int64 { return c.endpoints.calls.Load() }

// A RemoteError is an answer that says why there is none.
type RemoteError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the chain says %d: %s", e.Code, e.Message) }

const (
	codeReverted = 3      // a call that the EVM took back
	codeLimit    = -32005 // a limit is reached: of requests, or of what one asks for
)

// rateLimited says whether the endpoint wants fewer calls, and not another one.
func (e *RemoteError) rateLimited(method string) bool {
	text := strings.ToLower(e.Message)
	for _, words := range []string{"rate limit", "too many requests", "request limit", "request rate", "compute units"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return e.Code == codeLimit && method != "eth_getLogs" // which has limits of another kind
}

// A busyError is an endpoint that cannot answer just now.
type busyError struct {
	cause error
	after time.Duration // that it asks us to wait; 0 when it does not say
}

func (e *busyError) Error() string { return e.cause.Error() }
func (e *busyError) Unwrap() error { return e.cause }

// call asks one question and reads the answer into out. While the endpoints are
// busy it asks again, ever more slowly, until the context or Retry ends.
func (c *Client) call(ctx context.Context, out any, method string, params ...any) error {
	body, err := encodeCall(method, params)
	if err != nil {
		return err
	}
	ends := time.Now().Add(c.Retry)
	for backoff := c.Backoff; ; backoff = min(2*backoff, maxBackoff) {
		err := c.once(ctx, out, method, body)
		busy, ok := errors.AsType[*busyError](err)
		if !ok {
			return err
		}
		delay := max(backoff/2+rand.N(backoff), min(busy.after, maxBackoff))
		if time.Now().Add(delay).After(ends) {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
	}
}

// once asks the endpoints one after the other until one answers.
func (c *Client) once(ctx context.Context, out any, method string, body []byte) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait to ask the chain: %w", ctx.Err())
	}
	if err := caller.Err(); err != nil { // our own context hears of it a moment later
		return fmt.Errorf("wait to ask the chain: %w", err)
	}
	err := c.do(ctx, out, method, body)
	if err == nil {
		return nil
	}
	if e, ok := err.(*RemoteError); ok {
		return e
	}
	return fmt.Errorf("ask the chain for %s: %w", method, err)
}

// Ping fails unless an endpoint answers and is on the given chain.
func (c *Client) Ping(ctx context.Context, chainID uint64) error {
	var answer quantity
	if err := c.call(ctx, &answer, "eth_chainId"); err != nil {
		return err
	}
	if uint64(answer) != chainID {
		return fmt.Errorf("the endpoint is on chain %d, not on %d", answer, chainID)
	}
	return nil
}

// loggerOf returns the logger, or one that says nothing.
func loggerOf(p *atomic.Pointer[slog.Logger]) *slog.Logger {
	if log := p.Load(); log != nil {
		return log
	}
	return slog.New(slog.DiscardHandler)
}
