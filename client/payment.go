package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// A Journal stores payments from before they are sent until their outcome is
// known. It must be safe for concurrent use.
type Journal interface {
	// Payment returns the payment that was written for a call, or "".
	Payment(ctx context.Context, call string) (string, error)

	// Write stores a payment for a call; "" deletes it. A durable journal must
	// have synced the payment when Write returns.
	Write(ctx context.Context, call, payment string) error
}

// do makes a call, and pays for it if necessary and allowed.
func (c *Client) do(ctx context.Context, r request) (answer, error) {
	key := ""
	if r.paid && c.wallet != nil {
		key = c.callKey(r)
		payment, err := c.journal.Payment(ctx, key)
		if err != nil {
			return answer{}, fmt.Errorf("read the journal: %w", err)
		}
		if payment != "" {
			if err := c.resume(r, payment); err != nil {
				return answer{}, err
			}
			a, err := c.settle(ctx, r, key, payment)
			if e, ok := errors.AsType[*Error](err); !ok || e.Offer == nil {
				return a, err
			}
			// The old payment is void and will never move money: sign a new one.
		}
	}
	a, err := c.send(ctx, r, "")
	if err != nil {
		return a, err
	}
	if a.status != http.StatusPaymentRequired || key == "" {
		return a, a.err()
	}
	payment, err := c.signPayment(ctx, r, a)
	if err != nil {
		return answer{}, err
	}
	if err := c.journal.Write(ctx, key, payment); err != nil {
		return answer{}, fmt.Errorf("write the journal: %w", err)
	}
	return c.settle(ctx, r, key, payment)
}

// callKey returns the journal key of a call, which is the same in every process.
func (c *Client) callKey(r request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n", c.wallet.Address().Hex(), r.method, c.base, r.path, r.query.Encode())
	if r.identity != nil {
		h.Write(r.identity)
	} else {
		h.Write(r.body)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// signPayment signs the payment for a 402, if it is within the limit and
// confirmed.
func (c *Client) signPayment(ctx context.Context, r request, a answer) (string, error) {
	o, err := a.offer()
	if err != nil {
		return "", errors.Join(a.err(), err)
	}
	limit, err := c.limit(r)
	if err != nil {
		return "", err
	}
	if limit == nil {
		return "", errors.Join(a.err(), errors.New("nobody said how much may be paid"))
	}
	if o.Price > *limit {
		return "", &OverCap{Offer: o, Cap: *limit}
	}
	if err := o.check(c.wallet.Address()); err != nil {
		return "", err
	}
	if err := c.budget.take(o); err != nil {
		return "", err
	}
	payment, err := c.consent(ctx, r, o)
	if err != nil {
		c.budget.giveBack(o)
		return "", err
	}
	c.budget.signed(payment)
	return payment, nil
}

// consent asks for confirmation, and signs.
func (c *Client) consent(ctx context.Context, r request, o Offer) (string, error) {
	confirm := c.confirm
	if r.confirm != nil {
		confirm = r.confirm
	}
	if confirm != nil {
		if err := confirm(ctx, o); err != nil {
			return "", err
		}
	}
	return c.authorize(ctx, o)
}

// resume fails if a payment from another process exceeds what this one may spend.
func (c *Client) resume(r request, payment string) error {
	limit, err := c.limit(r)
	if err != nil || c.budget == nil {
		return err
	}
	if limit == nil {
		limit = new(USDC)
	}
	return c.budget.takeAgain(payment, *limit)
}

// limit returns the maximum price of r: the lower of the client's and the call's
// limit. It is nil if neither is set.
func (c *Client) limit(r request) (*USDC, error) {
	if r.maxPrice == nil {
		return c.cap, nil
	}
	limit, err := ParseUSDC(*r.maxPrice)
	if err != nil {
		return nil, err
	}
	if c.cap != nil {
		limit = min(limit, *c.cap)
	}
	return &limit, nil
}

const (
	firstPause    = 250 * time.Millisecond
	maxPause      = 5 * time.Second
	maxRetryAfter = time.Minute // longer values of the service are ignored

	firstRefusedPause = 2 * time.Second
)

// settle sends r with its payment until the outcome is known. From here on the
// money may move, so no other payment is signed for this call.
func (c *Client) settle(ctx context.Context, r request, key, payment string) (answer, error) {
	notice := retryNotice{notify: c.notify}
	for wait := time.Duration(0); ; {
		a, err := c.send(ctx, r, payment)
		if err == nil {
			err = cmp.Or(a.err(), a.foreign())
		}
		switch e, said := errors.AsType[*Error](err); {
		case said && !lost(e) && (a.status == 0 || e.Code == "" || e.Status == http.StatusUnauthorized || e.Status == http.StatusTooManyRequests):
			return a, err // the service did not process this attempt, but maybe an earlier one: the payment stays in the journal
		case err == nil || said && !lost(e):
			return a, errors.Join(err, c.forget(ctx, key))
		default:
			wait = nextPause(wait, e, a.receipt() != nil)
		}
		if ctx.Err() == nil {
			notice.failed(err)
		}
		if pause(ctx, wait) != nil {
			return answer{}, &Unknown{Payment: payment, Err: errors.Join(ctx.Err(), err)}
		}
	}
}

// nextPause returns how long to wait before a payment is sent again, after the last pause
// and with what the service said; nil if it did not answer. An answer without a receipt
// counts against a limit that may be ten orders a day, and must not use it up in the five
// minutes that a payment is good for.
func nextPause(last time.Duration, said *Error, receipt bool) time.Duration {
	next := min(max(2*last, firstPause), maxPause)
	switch {
	case said == nil:
		return next
	case !receipt && said.Code != "": // not of a proxy
		next = min(max(2*last, firstRefusedPause), maxRetryAfter)
	}
	return max(next, min(said.RetryAfter, maxRetryAfter))
}

// lost reports whether a response leaves the outcome of a payment unknown.
func lost(e *Error) bool {
	return e.Status == http.StatusServiceUnavailable || e.Code == "" && (e.Status >= 500 || e.Status < 300) || e.Status == http.StatusRequestTimeout
}

// forget deletes a payment with a known outcome from the journal, even if the
// context is done by now.
func (c *Client) forget(ctx context.Context, key string) error {
	if err := c.journal.Write(context.WithoutCancel(ctx), key, ""); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// receipt returns the settlement response of the service, or nil.
func (a answer) receipt() *api.SettleResponse {
	raw, err := base64.StdEncoding.DecodeString(a.header.Get("PAYMENT-RESPONSE"))
	if err != nil {
		return nil
	}
	var out api.SettleResponse
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return &out
}

// memoryJournal is the default journal, in memory.
type memoryJournal struct {
	mu       sync.Mutex // guards payments
	payments map[string]string
}

func (j *memoryJournal) Payment(_ context.Context, call string) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.payments[call], nil
}

func (j *memoryJournal) Write(_ context.Context, call, payment string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if payment == "" {
		delete(j.payments, call)
		return nil
	}
	j.payments[call] = payment
	return nil
}
