package deed

import (
	"context"
	"errors"
	"math/big"
	"time"
)

// A Settler moves money on the chain: in, for signed authorizations, and back,
// for refunds.
//
// Implementations must be safe for concurrent use, by several processes on one
// database, and idempotent: whatever was asked for before, also when the
// process died or its answer was lost, is gone on with and never done twice.
// They write down the exact signed bytes of a transaction before they send it.
// Every implementation passes the suite in settletest.
type Settler interface {
	// Check says whether the authorization could be settled now. It fails with
	// CodePaymentInvalid when it is malformed, badly signed, of another time or
	// used up, with CodePaymentInsufficient when the payer has too little, and
	// without a code when the chain does not say. It changes nothing.
	Check(ctx context.Context, a Authorization) error

	// Settle gives one of three answers:
	//
	//	settled  the transaction, once its transfer is as deep as its amount asks
	//	refused  an error for which Refused is true: the money has not moved
	//	         and can never move any more
	//	unknown  any other error: the money may have moved, or may move yet;
	//	         ask again later, with the same authorization
	Settle(ctx context.Context, a Authorization) (txHash string, err error)

	// Refund pays the amount to the wallet, once for each id. It answers settled
	// or unknown, as Settle does.
	Refund(ctx context.Context, id string, to Wallet, amount USDC) (txHash string, err error)

	// Incoming returns the transfers into our treasury by authorization, from
	// the block on, that are final, and the block to ask from next.
	Incoming(ctx context.Context, from uint64) (transfers []Transfer, next uint64, err error)
}

// A Transfer is money that an authorization moved to us on the chain, whoever
// sent it there.
type Transfer struct {
	Payer  Wallet
	Nonce  string // of the authorization
	Amount USDC
	TxHash string
	Block  uint64
	At     time.Time
}

// A Payout is money that left our refund wallet on the chain.
type Payout struct {
	To     Wallet
	Amount USDC
	TxHash string
	Block  uint64
}

// Reserves are what our own wallets have to work with. Each number says how many
// the wallet could pay for at the highest fee it would offer now.
type Reserves struct {
	Gas         *big.Int // in the gas wallet, in wei
	Settlements int64    // of one payment each
	Batches     int64    // of as many payments as share a transaction
	Refunds     int64    // by the gas of the refund wallet
	USDC        USDC     // in the refund wallet
}

// Refused says whether a Settler's err is a refusal. All that is not a refusal
// leaves the outcome open.
func Refused(err error) bool {
	code := CodeOf(err)
	return code == CodePaymentInvalid || code == CodePaymentInsufficient
}

// ErrPending is in the chain of every error that means "the outcome of the
// payment is not known yet". Its caller repeats the request and signs nothing
// new: whoever pays again may pay twice.
var ErrPending = errors.New("settlement pending")

// Pending returns an Error for a payment whose settlement is open because of
// cause.
func Pending(cause error) error {
	return &Error{
		Code:    CodeUnavailable,
		Message: "the payment is being settled: repeat this request with the same payment, do not pay again",
		Retry:   2 * time.Second,
		Err:     errors.Join(ErrPending, cause),
	}
}
