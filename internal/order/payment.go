package order

import (
	"bytes"
	"context"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A Payment is the record of one authorization, of what it buys and of what
// became of both.
type Payment struct {
	ID          string
	PublicID    string // random: whoever knows it was told it by us
	RefundID    string // of its refund, likewise; "" while nothing goes back
	Auth        settle.Authorization
	Purchase    Purchase
	Fingerprint string // of the purchase, as it was when it was paid for
	State       PaymentState
	TxHash      string // of the settlement, from settled on
	RefundTx    string // of the refund, once refunded
	AliasOf     string // the payment that is delivered instead; "" for most
	Created     time.Time

	Tries   int       // since it reached its state
	StuckAt time.Time // since when its transfer would fail; zero while it would not
}

// SignedBy says whether the signature is the one that the payment was given with.
// The last byte of a plain one is written in two ways, 0 or 27 and 1 or 28.
func (p Payment) SignedBy(signature []byte) bool {
	return bytes.Equal(normalSignature(p.Auth.Signature), normalSignature(signature))
}

func normalSignature(sig []byte) []byte {
	if len(sig) != 65 || sig[64] < 27 {
		return sig
	}
	return append(slices.Clone(sig[:64]), sig[64]-27)
}

// A PaymentState is a step in the life of a payment:
//
//	authorized ─► settling ─► settled ─► consumed
//	    ├────────────┤  ▲         └────► refund_due ─► refunding ─► refunded
//	    │            │  └──┐             ▲  ▲  └── reverted ──┘
//	    ├─► void ◄───┤     unclaimed ────┘  │
//	    └─► released ◄         └─► dust ────┘
//
// Authorized: the payment and what it buys are stored. Settling: the money may
// move at any time. Settled: it has moved. Consumed: what it bought was done, in
// the same transaction. Refund due: it cannot be done any more. Void: the money
// has not moved by this authorization and never will. Released: the payer could
// not pay, and we never send it again; the payer still may. Money that comes for
// a void or released payment is owed back. Unclaimed: it came without a request,
// and its payer may still ask for something. Dust: it came without a request and
// is not worth the gas; an operator may have it returned.
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

// paymentTransitions are the arrows of the drawing above.
var paymentTransitions = map[PaymentState][]PaymentState{
	PaymentAuthorized: {PaymentSettling, PaymentVoid},
	PaymentSettling:   {PaymentSettled, PaymentVoid, PaymentReleased},
	PaymentSettled:    {PaymentConsumed, PaymentRefundDue},
	PaymentUnclaimed:  {PaymentSettled, PaymentRefundDue},
	PaymentDust:       {PaymentRefundDue},
	PaymentRefundDue:  {PaymentRefunding},
	PaymentRefunding:  {PaymentRefunded, PaymentRefundDue},
}

// CanBecome says whether an arrow leads from s to next.
func (s PaymentState) CanBecome(next PaymentState) bool {
	return slices.Contains(paymentTransitions[s], next)
}

// EndedUnpaid says whether the payment ended without money: its payer may pay anew.
func (s PaymentState) EndedUnpaid() bool { return s == PaymentVoid || s == PaymentReleased }

// Refunds says whether money goes back, or went back.
func (s PaymentState) Refunds() bool {
	return s == PaymentRefundDue || s == PaymentRefunding || s == PaymentRefunded
}

// A Payer is what decides whether a wallet may open another payment.
type Payer struct {
	Open         []OpenPayment // payments of the wallet whose money has not moved
	Aliases      int           // open payments for the very same purchase, which are not called in
	RefusedUntil time.Time     // after transfers that failed on the chain; zero for most
}

// An OpenPayment is one whose money has not moved.
type OpenPayment struct {
	Nonce  string
	Amount deed.USDC
}

// A Delay says when to look at an open payment again, and why it waits.
type Delay struct {
	Until time.Time
	Stuck bool // the transfer would fail now
	Cause string
}

// MaxReverts is how many transfers of one payer may fail on the chain within
// RevertWindow, each at the cost of our gas, before the payer is refused for as
// long.
const (
	MaxReverts   = 3
	RevertWindow = 24 * time.Hour
)

// RefusedUntil returns until when a payer is refused whose transfers failed at the
// given times, the newest first; zero when it is not.
func RefusedUntil(times []time.Time) time.Time {
	if len(times) < MaxReverts || times[0].Sub(times[MaxReverts-1]) > RevertWindow {
		return time.Time{}
	}
	return times[0].Add(RevertWindow)
}

// Unsolicited says what becomes of money that came without a request.
type Unsolicited struct {
	State PaymentState // PaymentUnclaimed or PaymentDust
	Next  time.Time    // until then its payer may ask for something
	Lost  bool         // we settled it ourselves, so there was a request: it waits for an operator
}

// Stalled is what makes no progress although nothing of it is the payer's fault.
type Stalled struct {
	Count int
	ID    string // of the oldest, as all below
	State PaymentState
	Cause string
	Since time.Time
}

// A Checkout collects the price of one request. Each way in (HTTP, MCP) makes
// its own, because each carries the payment differently.
type Checkout interface {
	// Resume returns the payment of an earlier try at the same purchase, and
	// false when there was none. It fails with CodePaymentInvalid when the
	// payment was given for another purchase.
	Resume(ctx context.Context, p Purchase) (Payment, bool, error)

	// Collect takes the quoted amount for the purchase and returns its payment,
	// settled or on its way there. It fails with CodePaymentRequired when no
	// payment was offered, with CodePaymentInvalid or CodePaymentInsufficient
	// when it will not do, with CodeRateLimited when the payer has too many open
	// payments, with CodeDomainUnavailable when another buyer was faster, with
	// ErrPending when the money came before the request, and without a code when
	// nobody knows; no money moves then.
	Collect(ctx context.Context, q Quote, p Purchase) (Payment, error)
}

// Pay returns the payment for a purchase: that of an earlier try, or a new one at
// the price that quote finds. Quote also fills in what it found out about the
// purchase. Known says whether there is a payment at all: one that was refused,
// and is known, may be void, or belong to another purchase.
func Pay(ctx context.Context, pay Checkout, want Purchase, quote func(ctx context.Context) (Quote, Purchase, error)) (p Payment, q Quote, known bool, err error) {
	p, known, err = pay.Resume(ctx, want)
	if err != nil || known {
		return p, q, known, err
	}
	q, full, err := quote(ctx)
	if err == nil {
		p, err = pay.Collect(ctx, q, full)
	}
	if err != nil {
		// The same payment may have come twice at once, and the other request was
		// faster: then its answer is ours, and nobody pays again.
		no := err
		if p, known, err = pay.Resume(ctx, want); !known && err == nil {
			return p, q, false, no
		}
		return p, q, known, err
	}
	return p, q, true, nil
}
