package client

import (
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

// A Journal keeps payments from before they are sent until their outcome is
// known. It must be safe for concurrent use.
type Journal interface {
	// Payment returns what was written for a call, or "".
	Payment(ctx context.Context, call string) (string, error)

	// Write keeps a payment for a call. "" forgets it. Once it has returned, the
	// payment outlives a crash, where the journal is to outlive one at all.
	Write(ctx context.Context, call, payment string) error
}

// do makes a call, and pays for it where it must and may.
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
			// The old payment moved nothing and never will: begin anew.
		}
	}
	a, err := c.send(ctx, r, "")
	if err != nil {
		return a, err
	}
	if a.status != http.StatusPaymentRequired || key == "" {
		return a, a.err()
	}
	payment, err := c.promise(ctx, r, a)
	if err != nil {
		return answer{}, err
	}
	if err := c.journal.Write(ctx, key, payment); err != nil {
		return answer{}, fmt.Errorf("write the journal: %w", err)
	}
	return c.settle(ctx, r, key, payment)
}

// callKey names a call: the same call has the same name in every process.
func (c *Client) callKey(r request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n", c.wallet.Address().Hex(), r.method, c.base, r.path, r.query.Encode())
	h.Write(r.body)
	return hex.EncodeToString(h.Sum(nil))
}

// promise signs for what a 402 asks, below the cap and with consent.
func (c *Client) promise(ctx context.Context, r request, a answer) (string, error) {
	o, err := a.offer()
	if err != nil {
		return "", errors.Join(a.err(), err)
	}
	most, err := c.most(r)
	if err != nil {
		return "", err
	}
	if most == nil {
		return "", errors.Join(a.err(), errors.New("nobody said how much may be paid"))
	}
	if o.Price > *most {
		return "", &OverCap{Offer: o, Cap: *most}
	}
	if err := o.check(c.wallet.Address()); err != nil {
		return "", err
	}
	if err := c.budget.take(o); err != nil {
		return "", err
	}
	payment, err := c.consent(ctx, o)
	if err != nil {
		c.budget.giveBack(o)
		return "", err
	}
	c.budget.signed(payment)
	return payment, nil
}

// consent asks whoever is to be asked, and signs.
func (c *Client) consent(ctx context.Context, o Offer) (string, error) {
	if c.confirm != nil {
		if err := c.confirm(ctx, o); err != nil {
			return "", err
		}
	}
	return c.authorize(ctx, o)
}

// resume refuses to send a payment of another process that is beyond what this
// one may spend.
func (c *Client) resume(r request, payment string) error {
	most, err := c.most(r)
	if err != nil || c.budget == nil {
		return err
	}
	if most == nil {
		most = new(USDC)
	}
	return c.budget.takeAgain(payment, *most)
}

// most returns what r may cost at the most: the smaller of what the client and
// what the call allows. It is nil when neither says.
func (c *Client) most(r request) (*USDC, error) {
	if r.maxPrice == nil {
		return c.cap, nil
	}
	most, err := ParseUSDC(*r.maxPrice)
	if err != nil {
		return nil, err
	}
	if c.cap != nil {
		most = min(most, *c.cap)
	}
	return &most, nil
}

const (
	firstPause   = 250 * time.Millisecond
	lastPause    = 5 * time.Second
	longestPause = time.Minute // whatever the service asks for
)

// settle sends r with its payment until the service says what became of it.
// From here on the money may move, so nothing else is signed for this call.
func (c *Client) settle(ctx context.Context, r request, key, payment string) (answer, error) {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		a, err := c.send(ctx, r, payment)
		if err == nil {
			err = a.err()
		}
		switch e, said := errors.AsType[*Error](err); {
		case said && (e.Status == http.StatusUnauthorized || e.Status == http.StatusTooManyRequests):
			return a, err // before it looked at the payment: it stays in the journal
		case err == nil || said && !lost(e):
			return a, errors.Join(err, c.forget(ctx, key))
		case said:
			wait = max(wait, min(e.RetryAfter, longestPause))
		}
		if pause(ctx, wait) != nil {
			return answer{}, &Unknown{Payment: payment, Err: errors.Join(ctx.Err(), err)}
		}
	}
}

// lost reports whether an answer leaves open what became of a payment.
func lost(e *Error) bool {
	return e.Status == http.StatusServiceUnavailable || e.Status >= 500 && e.Code == "" || e.Status == http.StatusRequestTimeout
}

// forget takes a payment whose outcome is known out of the journal. That must
// not fail because the caller went away meanwhile.
func (c *Client) forget(ctx context.Context, key string) error {
	if err := c.journal.Write(context.WithoutCancel(ctx), key, ""); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// receipt returns what the service says of the payment, nil when nothing.
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

// memoryJournal lives as long as its client.
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
