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

// A Budget is the most that is signed for in all calls together, however many
// are made at once. Clients may share one. Make it with NewBudget; it lives as
// long as the process.
//
// An amount is taken before its payment is signed, and is given back only when
// nothing was signed. Whoever has a signature can move the money until it
// expires, so what the service says of a payment that failed gives nothing back.
// A payment out of the Journal that another process signed counts, too, once,
// before it is sent again.
type Budget struct {
	total USDC

	mu      sync.Mutex
	left    USDC            // guarded by mu, as counted
	counted map[string]bool // payments that were taken from it
}

// NewBudget returns a budget of which nothing is spent.
func NewBudget(total USDC) *Budget {
	return &Budget{total: total, left: total, counted: map[string]bool{}}
}

// Left returns what may still be signed for.
func (b *Budget) Left() USDC {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// An OverBudget is an offer that costs more than is left of a Budget. Nothing
// was signed for it, and nothing was sent.
type OverBudget struct {
	Offer       Offer
	Left, Total USDC
}

// Error names the amounts.
func (e *OverBudget) Error() string {
	return fmt.Sprintf("it costs %s USDC and %s of a budget of %s is left", e.Offer.Price, e.Left, e.Total)
}

// take takes the price of an offer. No budget is one without end.
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

// giveBack returns what was taken for an offer that was not signed.
func (b *Budget) giveBack(o Offer) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += o.Price
}

// signed says that a payment was taken from the budget already.
func (b *Budget) signed(payment string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted[payment] = true
}

// takeAgain takes the price of a payment out of the journal, unless it was taken
// before: the money may move only now.
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

// offerOf returns what a payment of ours was signed for, as far as it says.
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
