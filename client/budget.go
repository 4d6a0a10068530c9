package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// A Budget limits the total amount of all payments that are signed, including those
// of concurrent calls. Clients may share one. Create it with NewBudget; it is kept in
// memory only.
//
// An amount is reserved before its payment is signed, and released only if
// nothing was signed. Whoever has a signature can move the money until it
// expires, so a failed payment releases nothing. A payment from the Journal that
// another process signed counts once, before it is sent again.
type Budget struct {
	total USDC

	mu      sync.Mutex
	left    USDC            // guarded by mu, like counted
	counted map[string]bool // payments that have been reserved
}

// NewBudget returns a budget with the whole amount left.
func NewBudget(total USDC) *Budget {
	return &Budget{total: total, left: total, counted: map[string]bool{}}
}

// Left returns the amount that may still be signed.
func (b *Budget) Left() USDC {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// An OverBudget is the error for an offer that exceeds what is left of a Budget.
// Nothing was signed or sent.
type OverBudget struct {
	Offer       Offer
	Left, Total USDC
}

// Error returns a message with the amounts.
func (e *OverBudget) Error() string {
	return fmt.Sprintf("it costs %s USDC and %s of a budget of %s is left", e.Offer.Price, e.Left, e.Total)
}

// take reserves the price of an offer. A nil budget has no limit.
func (b *Budget) take(o Offer) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeLocked(o)
}

func (b *Budget) takeLocked(o Offer) error {
	if o.Price > b.left {
		return &OverBudget{Offer: o, Left: b.left, Total: b.total}
	}
	b.left -= o.Price
	return nil
}

// giveBack releases the amount of an offer that was not signed.
func (b *Budget) giveBack(o Offer) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += o.Price
}

// signed records that the amount of a payment has been reserved.
func (b *Budget) signed(payment string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted[payment] = true
}

// takeAgain reserves the price of a payment from the journal, unless it has been
// reserved: the money may move only now.
func (b *Budget) takeAgain(payment string, limit USDC) error {
	if b == nil {
		return nil
	}
	o, err := offerOf(payment)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counted[payment] {
		return nil
	}
	if o.Price > limit {
		return &OverCap{Offer: o, Cap: limit}
	}
	if err := b.takeLocked(o); err != nil {
		return err
	}
	b.counted[payment] = true
	return nil
}

// offerOf returns the offer of a signed payment, as far as the payment has it.
func offerOf(payment string) (Offer, error) {
	var h api.PaymentHeader
	raw, err := base64.StdEncoding.DecodeString(payment)
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err != nil || h.Payload.Authorization == nil {
		return Offer{}, errors.New("the journal has a payment that cannot be read")
	}
	price, err := strconv.ParseInt(h.Payload.Authorization.Value, 10, 64)
	if err != nil || price < 0 {
		return Offer{}, fmt.Errorf("the journal has a payment of %q", h.Payload.Authorization.Value)
	}
	return Offer{Price: USDC(price), For: "an earlier payment for the same call", Network: h.Network, PayTo: h.Payload.Authorization.To}, nil
}
