package order

import (
	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A PartRefund is a refund of a payment that was consumed, of a part of its amount or
// of all of it. The zero PartRefund stands for none.
type PartRefund struct {
	Label  RefundLabel
	Amount deed.USDC
	Reason string // for the payer and the ledger
}

// A RefundLabel says what kind of part is refunded. It is part of the nonce of the
// refund, so a payment has at most one of each kind, whatever our database remembers.
type RefundLabel string

// The labels.
const (
	RefundUndo   RefundLabel = "undo"   // the registration was cancelled in its add grace period
	RefundChange RefundLabel = "change" // the price was below what was authorized
)

// Valid reports whether a part of the payment may be refunded like this.
func (r PartRefund) Valid(p Payment) bool {
	return r.Label != "" && r.Reason != "" && r.Amount > 0 && r.Amount <= p.Auth.Amount
}

// Delivered reports whether the purchase of the payment was delivered. A part of it
// may have been refunded since.
func (p Payment) Delivered() bool { return p.State == PaymentConsumed || p.Part.Label != "" }

// Refund returns the refund of the payment: its part, or the whole amount of one that
// bought nothing.
func (p Payment) Refund() settle.Refund {
	r := settle.Refund{PaymentID: p.ID, Payer: p.Auth.Payer, Nonce: p.Auth.Nonce, Amount: p.Auth.Amount}
	if p.Part.Label != "" {
		r.Amount, r.Label = p.Part.Amount, string(p.Part.Label)
	}
	return r
}

// RefundOf returns the refund of a part, to find it on the chain: its amount need not be
// known.
func (p Payment) RefundOf(part RefundLabel) settle.Refund {
	p.Part.Label = part
	return p.Refund()
}
