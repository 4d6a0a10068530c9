package deed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// An Authorization is a payer's signed promise to pay, as x402 carries it
// (EIP-3009).
type Authorization struct {
	Payer       Wallet
	PayTo       Wallet
	Amount      USDC
	ValidAfter  int64  // Unix seconds, by the chain's clock
	ValidBefore int64  // likewise
	Nonce       string // 0x and 64 lowercase hex digits; the chain takes it once per payer
	Signature   []byte
}

// PaymentID names the payment of a on one chain and token. The payer and the
// nonce make it, and not the signature or the request, because that pair is what
// the chain takes once.
func (a Authorization) PaymentID(chainID uint64, asset Wallet) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s", chainID, asset, a.Payer, a.Nonce))
	return "pay_" + hex.EncodeToString(sum[:16])
}

// A Payment is the record of one authorization, of what it buys and of what
// became of both.
type Payment struct {
	ID       string
	Auth     Authorization
	Purchase Purchase
	State    PaymentState
	TxHash   string // of the settlement, from settled on
	RefundTx string // of the refund, once refunded
	AliasOf  string // the payment that is delivered instead; "" for most
	Created  time.Time
}

// A PaymentState is a step in the life of a payment:
//
//	authorized ─► settling ─► settled ─► consumed
//	    │             │           └────► refund_due ─► refunding ─► refunded
//	    └─► void ◄────┘                      ▲  └── reverted ──┘
//
// Authorized: the promise and what it buys are written down. Settling: the
// money may move at any time. Settled: it has moved. Consumed: what it bought
// was done, in the same transaction. Refund due: it cannot be done any more.
// Void: the money has not moved by this promise and never will; what its payer
// sends with another under the same nonce is owed back.
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
)

// paymentArrows are the arrows of the drawing above.
var paymentArrows = map[PaymentState][]PaymentState{
	PaymentAuthorized: {PaymentSettling, PaymentVoid},
	PaymentSettling:   {PaymentSettled, PaymentVoid},
	PaymentSettled:    {PaymentConsumed, PaymentRefundDue},
	PaymentRefundDue:  {PaymentRefunding},
	PaymentRefunding:  {PaymentRefunded, PaymentRefundDue},
}

// MayBecome says whether an arrow leads from s to next.
func (s PaymentState) MayBecome(next PaymentState) bool {
	return slices.Contains(paymentArrows[s], next)
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
	// when it will not do, with CodeDomainUnavailable when another buyer was
	// faster, and without a code when nobody knows; no money moves then.
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
