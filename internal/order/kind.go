package order

import (
	"context"
	"time"

	"deed.example/deed"
)

// A Kind sells and delivers one or more kinds of purchase. Everything else about a
// paid request (collecting the payment, waiting, repeating, refunding) is the same
// for all of them and is done by package fulfil.
//
// Implementations must be safe for concurrent use.
type Kind interface {
	// Sells returns the kinds of purchase that it delivers.
	Sells() []PurchaseKind

	// Complete fills in what the caller left out, such as the number of years. It
	// does no I/O, and completing a purchase twice equals completing it once:
	// equal requests must be equal purchases.
	Complete(p Purchase) Purchase

	// Quote checks the request and returns its price, and the purchase with the
	// facts it found. All checks are free and come before any money moves.
	Quote(ctx context.Context, r Request) (Quote, Purchase, error)

	// Advance makes the next step of a job whose payment has settled, if one can be
	// made now. It makes at most one outside call and one transaction at a time. The
	// job may be out of date, and other processes may advance it concurrently:
	// exactly one of them makes the step. After an error the worker tries again.
	Advance(ctx context.Context, j Job) error

	// Delivered is called with a completed job before its buyer is answered, to make
	// the result visible on this node.
	Delivered(ctx context.Context, j Job)
}

// A Deliverer is a Kind that needs no third party to deliver.
type Deliverer interface {
	// DeliverSettled records that the payment was settled by the transaction, and
	// delivers what it bought, in one transaction. It returns the payment after it. If
	// that is not possible it returns false and changes nothing: then the settlement is
	// recorded first, and Advance delivers or fails the job.
	DeliverSettled(ctx context.Context, p Payment, txHash string) (next Payment, done bool, err error)
}

// A Request asks for a purchase. What is not part of the Purchase is not stored.
type Request struct {
	Purchase
	MaxPrice *deed.USDC // nil means no limit
	Offered  deed.USDC  // the amount of the payment in the request; 0 without one

	// Payer is the wallet of the payment, or without one the wallet that is signed in;
	// it may be empty. What it has already paid for is not taken for it.
	Payer deed.Wallet

	// MayBeBuyer means that the caller is unknown and will be when it pays. It gets an
	// offer of a name that is being bought: the buyer may have lost the answer, and gets
	// the job when it signs again. Anybody else is refused then, and nothing is charged.
	MayBeBuyer bool

	// Basis is what the Kind derives the purchase from when that depends on the
	// present state, such as a zone file. Purchase.RequestKey identifies it.
	Basis any
}

// CheckMaxPrice fails when the price exceeds the caller's maximum. For a payment of
// a held price, that price counts.
func (r Request) CheckMaxPrice(q Quote) error {
	price := q.Amount
	if q.Accepts(r.Offered) {
		price = r.Offered
	}
	if r.MaxPrice != nil && price > *r.MaxPrice {
		return deed.Invalid("maxPriceUsd", "%s costs %s USDC, which is more", q.For, price)
	}
	return nil
}

// An Outcome is how far a purchase got while its request waited.
type Outcome struct {
	Job     Job
	Payment Payment // of the job, as it was last read; it may have moved since. Without a job, one that ended unpaid
	Quote   Quote   // of what the caller may pay now, when nothing was bought
}

// A PurchaseKind is the kind of a Purchase.
type PurchaseKind string

// The kinds of purchase. A transfer without a request buys nothing and is
// refunded.
const (
	PurchaseRegistration PurchaseKind = "registration"
	PurchaseRenewal      PurchaseKind = "renewal"
	PurchaseTransfer     PurchaseKind = "transfer"
	PurchaseDNSAdd       PurchaseKind = "dns_add"
	PurchaseDNSUpdate    PurchaseKind = "dns_update"
	PurchaseDNSDelete    PurchaseKind = "dns_delete"
	PurchaseDNSBatch     PurchaseKind = "dns_batch"
	PurchaseNothing      PurchaseKind = "nothing"
)

// kinds lists what is known about a kind of purchase without its Kind. A kind that
// is not listed is never delivered.
var kinds = map[PurchaseKind]struct {
	noun       string        // for messages
	deadline   time.Duration // of its job, before the payment is refunded
	failure    deed.Code     // of a job that failed
	claimsName bool
	polled     bool
}{
	PurchaseRegistration: {"order", JobDeadline, deed.CodeRegistrationFailed, true, true},
	PurchaseRenewal:      {"order", JobDeadline, deed.CodeRegistrationFailed, false, true},
	PurchaseTransfer:     {"order", TransferDeadline, deed.CodeRegistrationFailed, true, true},
	PurchaseDNSAdd:       {"change", JobDeadline, deed.CodeDNS, false, false},
	PurchaseDNSUpdate:    {"change", JobDeadline, deed.CodeDNS, false, false},
	PurchaseDNSDelete:    {"change", JobDeadline, deed.CodeDNS, false, false},
	PurchaseDNSBatch:     {"change", JobDeadline, deed.CodeDNS, false, false},
}

// Noun returns what the purchase is called in messages: "order" or "change".
func (k PurchaseKind) Noun() string { return kinds[k].noun }

// ClaimsName reports whether the purchase reserves its name from the moment of
// authorization, so that no other buyer can order it.
func (k PurchaseKind) ClaimsName() bool { return kinds[k].claimsName }

// Polled reports whether the buyer gets a job to poll while the purchase is not
// delivered. Otherwise the request waits for its end, and the buyer repeats it when
// that takes too long.
func (k PurchaseKind) Polled() bool { return kinds[k].polled }

// Deadline returns the deadline of a job created at that time.
func (p Purchase) Deadline(created time.Time) time.Time {
	return created.Add(kinds[p.Kind].deadline)
}

// FailureCode returns the code that the buyer of a failed job gets.
func (j Job) FailureCode() deed.Code { return kinds[j.Purchase.Kind].failure }
