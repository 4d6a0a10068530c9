package order

import (
	"bytes"
	"context"
	"slices"
	"time"

	"deed.example/deed/internal/settle"
)

// A Payment is one authorization, what it buys, and the state of both.
type Payment struct {
	ID          string
	Source      Source
	PublicID    string // random, so it cannot be guessed
	RefundID    string // of its refund, likewise; "" while there is none
	Auth        settle.Authorization
	Purchase    Purchase
	Fingerprint string // of the purchase, at the time of payment
	State       PaymentState
	TxHash      string // of the settlement, from settled on
	RefundTx    string // of the refund, once refunded
	Part        PartRefund
	AliasOf     string // the payment that is delivered instead; usually ""
	MandateID   string // of a new payment by mandate; not read back
	Created     time.Time
	Changed     time.Time // when it got its state

	Job *Job // its job as this process has just stored it; nil: read it

	Tries   int       // since the last change of state
	StuckAt time.Time // since when its transfer would fail; zero if it would succeed
	Lost    bool      // unclaimed, and may have bought something before a restore: it waits for a decision
}

// SignedBy reports whether the signature is the one of the payment. The last byte
// of an ECDSA signature has two encodings, 0 or 27 and 1 or 28.
func (p Payment) SignedBy(signature []byte) bool {
	return bytes.Equal(normalSignature(p.Auth.Signature), normalSignature(signature))
}

// SignatureKey is equal for payments with the same signature.
func (p Payment) SignatureKey() string { return string(normalSignature(p.Auth.Signature)) }

func normalSignature(sig []byte) []byte {
	if len(sig) != 65 || sig[64] < 27 {
		return sig
	}
	return append(slices.Clone(sig[:64]), sig[64]-27)
}

// A PaymentState is the state of a payment:
//
//	authorized ─► settling ─► settled ─► consumed
//	                             │           │ a part
//	                             ├───────────┘
//	                             └─► refund_due ─► refunding ─► refunded
//
//	authorized, settling ─► void
//	settling ─► released
//	unclaimed ─► settled
//	unclaimed, dust ─► refund_due
//	authorized, settling, void, released ─► refund_due, by a transfer that arrives and is not the authorized one
//
// Authorized: the payment and its purchase are stored. Only aliases stay so: any other
// payment is stored as settling at once. Settling: the transfer may happen at any time.
// Settled: it has happened. Consumed: the purchase was delivered, in the same
// transaction. Refund due: it can no longer be delivered, or a PartRefund of what was
// delivered is due. Void: the authorization was not used and never can be. Released: the
// payer could not pay, and we never submit it again, although the payer still can. A
// transfer that arrives for a void or released payment is refunded. Unclaimed: it
// arrived without a request, and its payer may still claim it. Dust: it arrived without
// a request and is not worth the gas of a refund; an operator may refund it.
type PaymentState string

// The states of a payment.
const (
	PaymentAuthorized PaymentState = "authorized"
	PaymentSettling   PaymentState = "settling"
	PaymentSettled    PaymentState = "settled"
	PaymentConsumed   PaymentState = "consumed"
	PaymentRefundDue  PaymentState = "refund_due"
	PaymentRefunding  PaymentState = "refunding"
	PaymentRefunded   PaymentState = "refunded"
	PaymentVoid       PaymentState = "void"
	PaymentReleased   PaymentState = "released"
	PaymentUnclaimed  PaymentState = "unclaimed"
	PaymentDust       PaymentState = "dust"
)

// paymentTransitions are the arrows above, except those of a transfer that arrives: only
// the watcher makes them, together with the entry of the transfer in the ledger.
var paymentTransitions = map[PaymentState][]PaymentState{
	PaymentAuthorized: {PaymentSettling, PaymentVoid},
	PaymentSettling:   {PaymentSettled, PaymentVoid, PaymentReleased},
	PaymentSettled:    {PaymentConsumed, PaymentRefundDue},
	PaymentConsumed:   {PaymentRefundDue},
	PaymentUnclaimed:  {PaymentSettled, PaymentRefundDue},
	PaymentDust:       {PaymentRefundDue},
	PaymentRefundDue:  {PaymentRefunding},
	PaymentRefunding:  {PaymentRefunded},
}

// CanBecome reports whether there is a transition from s to next.
func (s PaymentState) CanBecome(next PaymentState) bool {
	return slices.Contains(paymentTransitions[s], next)
}

// EndedUnpaid reports whether the payment ended without a transfer, so that its
// payer may pay again.
func (s PaymentState) EndedUnpaid() bool { return s == PaymentVoid || s == PaymentReleased }

// Received reports whether the money of the payment has arrived. That never changes
// again.
func (s PaymentState) Received() bool {
	return s != PaymentAuthorized && s != PaymentSettling && !s.EndedUnpaid()
}

// Refunds reports whether the payment is being refunded, or was.
func (s PaymentState) Refunds() bool {
	return s == PaymentRefundDue || s == PaymentRefunding || s == PaymentRefunded
}

// A Delay says when to retry an open payment, and why.
type Delay struct {
	Until time.Time
	Stuck bool // the transfer would fail now
	Cause string
}

// Unsolicited says how to record a transfer that arrived without a request.
type Unsolicited struct {
	State PaymentState // PaymentUnclaimed or PaymentDust
	Next  time.Time    // until then its payer may claim it
	Lost  bool         // we submitted it, so there was a request: it waits for an operator
}

// Stalled describes payments that make no progress for reasons other than the payer.
type Stalled struct {
	Count int
	ID    string // of the oldest, like all fields below
	State PaymentState
	Cause string
	Since time.Time
}

// A Checkout collects the price of one request. Each inbound adapter (HTTP, MCP)
// makes its own, because each carries the payment differently.
type Checkout interface {
	// Resume returns the payment of an earlier request for the same purchase, and
	// false if there is none. It fails with CodePaymentInvalid when the payment
	// belongs to another purchase.
	Resume(ctx context.Context, p Purchase) (Payment, bool, error)

	// Collect collects the quoted amount for the purchase and returns its payment,
	// settled or settling. It fails with CodePaymentRequired when no payment was
	// offered, with CodePaymentInvalid or CodePaymentInsufficient when it is not
	// acceptable, with CodeRateLimited when the payer has too many open payments,
	// with CodeDomainUnavailable when another buyer came first, with ErrPending
	// when the transfer preceded the request, and without a code when that is
	// unknown; no money moves then.
	Collect(ctx context.Context, q Quote, p Purchase) (Payment, error)
}
