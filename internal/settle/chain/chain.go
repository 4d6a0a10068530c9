// Package chain reads an EVM chain, over any JSON-RPC endpoint, and moves USDC on
// it.
//
// Client verifies signatures of wallets. That of a plain wallet is recovered
// locally; a contract wallet verifies its own (ERC-1271, ERC-6492), in one call
// that changes nothing and is limited in gas, time and concurrency. When the chain
// does not respond, the result is unknown: that is an error, never a "no".
//
// Settler settles payments and makes refunds, each in a lane of its own. Callers
// wait, and one of them works for all in its lane, in rounds: read the final block
// and return the outcomes that it shows; for the other waits, simulate the
// transfer, store the signed transaction with its nonce, and only then send it.
// Signed transactions are sent until they are mined. What was mined is never
// stored: it is read from the chain each time, so a crash, a lost response, a third
// party that was faster, a restored backup and a reorganisation are the same case.
// A payment is settled by its logs alone, and refused only when the final block
// shows that the money cannot move any more.
//
// Anyone can write to the chain, so no response is trusted to be small: logs are
// requested by token, topics and block range, and a range that is refused is
// halved. Receipts are read of our own transactions only.
//
// The JSON-RPC client is part of this package (post.go) in place of go-ethereum's
// rpc.Client, because that one does not limit the size of a response, drops the
// Retry-After of a busy endpoint, and puts the address of the endpoint, which may
// hold a key, into its errors.
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
	callTimeout  = 5 * time.Second  // for one response, by default
	retryTimeout = 15 * time.Second // for all attempts of one call
	maxResponse  = 4 << 20          // bytes
	maxAtOnce    = 8                // concurrent calls
	maxSigned    = 4                // of them, checks of signatures by contract wallets
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// Client calls an endpoint, and the next one when that fails. Make one with Dial,
// and change its fields before the first use only.
type Client struct {
	Timeout     time.Duration // for one response, including the wait for a slot
	Retry       time.Duration // for all attempts of a call while the endpoints are busy
	Backoff     time.Duration // before the second attempt; it doubles each time
	MaxResponse int64         // bytes
	ChainID     uint64        // that every endpoint must be on; 0 for that of the first
	Quorum      int           // endpoints that must agree on what decides about money; 0 and 1 for one

	endpoints *endpoints
	slots     chan struct{} // holds a token for each call in progress
	signed    chan struct{} // holds a token for each check of a signature
}

// Dial returns a client for the endpoints at the given addresses, all of one
// chain, the preferred one first. It does not connect.
func Dial(urls ...string) *Client {
	transport := &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 2*maxAtOnce + refundSlots, IdleConnTimeout: time.Minute},
		// A redirect leads to an endpoint that was not configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c := &Client{
		Timeout: callTimeout, Retry: retryTimeout, Backoff: firstBackoff, MaxResponse: maxResponse,
		endpoints: &endpoints{http: transport}, slots: make(chan struct{}, maxAtOnce), signed: make(chan struct{}, maxSigned),
	}
	for i, url := range urls {
		c.endpoints.all = append(c.endpoints.all, &endpoint{number: i + 1, url: url})
	}
	return c
}

// SetTransport makes the client send its calls through t, such as that of a chain in this
// process. Call it before the first use only.
func (c *Client) SetTransport(t http.RoundTripper) { c.endpoints.http.Transport = t }

// SetLogger makes the client log which endpoints it does not use, and why. It may
// be called at any time.
func (c *Client) SetLogger(log *slog.Logger) { c.endpoints.log.Store(log) }

// separate returns a client for the same endpoints with its own slots.
func (c *Client) separate(slots int) *Client {
	other := *c
	other.slots = make(chan struct{}, slots)
	return &other
}

// Calls returns how many requests were sent to the endpoints.
func (c *Client) Calls() int64 { return c.endpoints.calls.Load() }

// Failures returns how many of them had no usable response.
func (c *Client) Failures() int64 { return c.endpoints.fails.Load() }

// Head returns the newest block that was read, and false before the first.
func (c *Client) Head() (Head, bool) {
	if h := c.endpoints.head.Load(); h != nil {
		return *h, true
	}
	return Head{}, false
}

// Newest reads the newest block.
func (c *Client) Newest(ctx context.Context) (Head, error) {
	b, err := c.block(ctx, "latest")
	if err != nil {
		return Head{}, err
	}
	return Head{Number: uint64(b.Number), Time: time.Unix(int64(b.Time), 0)}, nil
}

// EndpointsUp reports for each endpoint, in the order of Dial, whether it is used.
func (c *Client) EndpointsUp() []bool {
	up := make([]bool, len(c.endpoints.all))
	for i, e := range c.endpoints.all {
		e.mu.Lock()
		up[i] = !e.down
		e.mu.Unlock()
	}
	return up
}

// A RemoteError is the error in a JSON-RPC response.
type RemoteError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RemoteError) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

const (
	codeReverted = 3      // a call that reverted
	codeLimit    = -32005 // a limit on requests, or on the size of one
)

// rateLimited reports whether the endpoint limits the rate of calls, and does not
// object to this call.
func (e *RemoteError) rateLimited(method string) bool {
	text := strings.ToLower(e.Message)
	for _, words := range []string{"rate limit", "too many requests", "request limit", "request rate", "compute units"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return e.Code == codeLimit && method != "eth_getLogs" // whose limits are on the range of blocks
}

// isAbout reports whether the error is about the call, and not about the endpoint: a call
// that reverts, a transaction that is not accepted, or a range of blocks that is too large
// for it.
func (e *RemoteError) isAbout(method string) bool {
	return e.Code == codeReverted || method == "eth_sendRawTransaction" || method == "eth_getLogs"
}

// A busyError is returned for an endpoint that is overloaded or limits our rate.
type busyError struct {
	cause error
	after time.Duration // from Retry-After; 0 without one
}

func (e *busyError) Error() string { return e.cause.Error() }
func (e *busyError) Unwrap() error { return e.cause }

// call makes one JSON-RPC call and decodes the result into out. While the
// endpoints are busy it retries with exponential backoff, until the context or
// Retry ends.
func (c *Client) call(ctx context.Context, out any, method string, params ...any) error {
	body, err := encodeCall(method, params)
	if err != nil {
		return err
	}
	do := c.do
	if c.Quorum > 1 && hasOneAnswer(method, params) {
		do = c.agree
	}
	return c.repeat(ctx, method, func(ctx context.Context) error { return do(ctx, out, method, body) })
}

// repeat makes a call again while the endpoints are busy.
func (c *Client) repeat(ctx context.Context, method string, do func(context.Context) error) error {
	ends := time.Now().Add(c.Retry)
	for backoff := c.Backoff; ; backoff = min(2*backoff, maxBackoff) {
		err := c.once(ctx, method, do)
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

// once makes a call when it has a slot.
func (c *Client) once(ctx context.Context, method string, do func(context.Context) error) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a free slot to call the chain: %w", ctx.Err())
	}
	if err := caller.Err(); err != nil { // it may not have reached the derived context yet
		return fmt.Errorf("wait for a free slot to call the chain: %w", err)
	}
	err := do(ctx)
	if err == nil {
		return nil
	}
	if e, ok := err.(*RemoteError); ok {
		return e
	}
	return fmt.Errorf("call %s: %w", method, err)
}

// Ping fails unless an endpoint responds and is on the given chain.
func (c *Client) Ping(ctx context.Context, chainID uint64) error {
	var result quantity
	if err := c.call(ctx, &result, "eth_chainId"); err != nil {
		return err
	}
	if uint64(result) != chainID {
		return fmt.Errorf("the endpoint is on chain %d, not on %d: %w", result, chainID, ErrWrongChain)
	}
	return nil
}

// loggerOf returns the logger, or one that discards everything.
func loggerOf(p *atomic.Pointer[slog.Logger]) *slog.Logger {
	if log := p.Load(); log != nil {
		return log
	}
	return slog.New(slog.DiscardHandler)
}
