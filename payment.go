package deed

import "slices"

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

// A Payment is the record of one authorization and of what became of it.
type Payment struct {
	ID     string
	Auth   Authorization
	State  PaymentState
	TxHash string // set from settled on
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
// Void: the money has not moved and never will.
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
