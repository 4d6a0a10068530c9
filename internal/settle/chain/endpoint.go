package chain

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// probeInterval is how long an endpoint that failed is not called, and how long
// one that was not needed goes unchecked.
const probeInterval = 30 * time.Second

// endpoints are shared by several clients.
type endpoints struct {
	http  *http.Client
	all   []*endpoint // the preferred one first
	log   atomic.Pointer[slog.Logger]
	calls atomic.Int64
	fails atomic.Int64         // calls without a usable response
	head  atomic.Pointer[Head] // the newest block that was seen; nil before the first
	pause atomic.Int64         // nanoseconds instead of probeInterval; 0 in production

	blockTime atomic.Int64 // nanoseconds between two blocks; 0: any block is plausible

	mu    sync.Mutex // guards the fields below
	chain *identity  // of the first verified endpoint
	began time.Time  // the time of its first block
}

// An endpoint is used only after its identity was verified. It is verified again
// after its connection was lost.
type endpoint struct {
	number int // counted from 1, for logs: the URL may contain a key
	url    string

	mu        sync.Mutex // guards the fields below
	chainID   *uint64    // as it reported; nil when it was not requested since it failed
	sameChain bool       // its chain is ours, by that and its first block
	verified  bool
	down      bool      // it failed, and was not verified since
	newest    time.Time // of its newest block when that was read last; zero before the first
	probeAt   time.Time // when it is probed, unless it was used by then
	probing   bool
	logged    string // the last reason that was logged
}

// candidates returns the endpoints in the order of preference. The others than the
// first are probed in the background, so that those that failed are used again
// when they have recovered, and a failure of those that were not needed is noticed
// before they are.
func (c *Client) candidates() []*endpoint {
	var good, failed []*endpoint
	for _, e := range c.endpoints.all {
		e.mu.Lock()
		if e.down {
			failed = append(failed, e)
		} else {
			good = append(good, e)
		}
		e.mu.Unlock()
	}
	all := append(good, failed...)
	if len(good) > 0 {
		for _, e := range all[1:] {
			c.probe(e)
		}
	}
	return all
}

// probe checks an endpoint in the background when it is time.
func (c *Client) probe(e *endpoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.probing || time.Now().Before(e.probeAt) {
		return
	}
	e.probing = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
		defer cancel()
		err := c.verify(ctx, e)
		e.mu.Lock()
		e.probing = false
		e.mu.Unlock()
		if err != nil {
			c.fail(e, err)
		}
	}()
}

// do tries one endpoint after the other. Each has an equal share of the timeout.
func (c *Client) do(ctx context.Context, out any, method string, body []byte) error {
	var errs []error
	var busy *busyError
	var refused *endpoint // the first that returned an error for the call
	var refusal error
	for _, e := range c.candidates() {
		err := c.requestFrom(ctx, e, out, method, body)
		if err == nil {
			if refused != nil {
				c.probe(refused) // it may return errors for all calls
			}
			return nil
		}
		remote, ok := errors.AsType[*RemoteError](err)
		refuses := ok && !isBusy(err)
		if refuses && remote.isAbout(method) || errors.Is(err, errLargeResponse) {
			return err // the others would return the same
		}
		if refuses && refused == nil {
			refused, refusal = e, err
		}
		if b, ok := errors.AsType[*busyError](err); ok && (busy == nil || b.after < busy.after) {
			busy = b
		}
		errs = append(errs, err)
	}
	switch {
	case refused != nil:
		return refusal
	case busy != nil:
		return &busyError{cause: errors.Join(errs...), after: busy.after}
	}
	return errors.Join(errs...)
}

func isBusy(err error) bool {
	_, ok := errors.AsType[*busyError](err)
	return ok
}

func (c *Client) requestFrom(ctx context.Context, e *endpoint, out any, method string, body []byte) error {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, c.Timeout/time.Duration(len(c.endpoints.all)))
	defer cancel()
	e.mu.Lock()
	verified := e.verified
	e.mu.Unlock()
	var err error
	if !verified {
		err = c.verify(ctx, e)
	}
	if err == nil {
		err = c.post(ctx, e, out, method, body)
	}
	_, remote := errors.AsType[*RemoteError](err)
	if err != nil && (!remote || isBusy(err)) {
		c.endpoints.fails.Add(1)
	}
	if err == nil {
		c.used(e)
	}
	if err != nil && !remote && !isBusy(err) && !errors.Is(err, errLargeResponse) && whole.Err() == nil {
		c.fail(e, err)
	}
	return err
}

// used postpones the probe of an endpoint that has responded.
func (c *Client) used(e *endpoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.probeAt = time.Now().Add(c.probeInterval())
}

func (c *Client) probeInterval() time.Duration {
	if n := c.endpoints.pause.Load(); n != 0 {
		return time.Duration(n)
	}
	return probeInterval
}

// fail stops using an endpoint until the next probe, and logs each reason once.
func (c *Client) fail(e *endpoint, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.chainID, e.sameChain, e.verified, e.down = nil, false, false, true
	e.probeAt = time.Now().Add(c.probeInterval())
	if e.logged != cause.Error() {
		loggerOf(&c.endpoints.log).Warn("an RPC endpoint is not used", "endpoint", e.number, "cause", cause.Error())
	}
	e.logged = cause.Error()
}
