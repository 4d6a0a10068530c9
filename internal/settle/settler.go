// Package settle has the contract of what moves money for us: a Settler takes signed
// authorizations (EIP-3009) to the chain, pays refunds, and reads what came in.
//
// Its one implementation on an EVM chain is in chain/, the suite in settletest/.
package settle

import (
	"context"
	"errors"
	"math/big"
	"time"

	"deed.example/deed"
)

// A Settler moves money on the chain: in, for signed authorizations, and back,
// for refunds.
//
// Implementations must be safe for concurrent use, by several processes on one
// database, and idempotent: whatever was asked for before, also when the
// process died or its answer was lost, is continued and never done twice.
// They store the exact signed bytes of a transaction before they send it.
// Nothing that a stranger puts on the chain may stop them, and payments never
// delay refunds. Every implementation passes the suite in settletest.
type Settler interface {
	// Check says whether the authorization could be settled now, and what the
	// payer has at that block; open are the nonces of the payer's other open
	// payments. It fails with CodePaymentInvalid when the authorization is
	// malformed, badly signed, of another time or used up, with
	// CodePaymentInsufficient when the payer has too little, with ErrAlreadyPaid
	// when its transfer to us is on the chain already, and without a code when
	// the chain does not say. It changes nothing.
	Check(ctx context.Context, a Authorization, open []string) (Funds, error)

	// Settle gives one of four answers:
	//
	//	settled     the transaction, once its transfer is as deep as its amount asks
	//	refused     an error for which Refused is true: the money has not moved
	//	            and can never move any more
	//	stuck       ErrUnsettleable or ErrReverted: no transaction of ours that
	//	            carries it can still be mined; the payer may still move the money
	//	unknown     any other error: the money may have moved, or may move yet;
	//	            ask again later, with the same authorization
	Settle(ctx context.Context, a Authorization) (txHash string, err error)

	// Abandon gives up an authorization that Settle called stuck: from then on no
	// process sends it, and Settle answers settled, refused or stuck. It fails
	// when a transaction of ours may still carry it.
	Abandon(ctx context.Context, a Authorization) error

	// Refund pays back what the authorization paid, once for each payer and
	// nonce, whatever our own database remembers. It answers settled or unknown,
	// as Settle does.
	Refund(ctx context.Context, r Refund) (txHash string, err error)

	// Incoming returns the final transfers into our treasuries by authorization,
	// from the block on.
	Incoming(ctx context.Context, from uint64) (Arrivals, error)
}

// A RefundFinder says what went back, after we forgot it. A Settler may be one.
type RefundFinder interface {
	// Refunded says whether the chain has the refund.
	Refunded(ctx context.Context, r Refund) (bool, error)
}

// Errors of a Settler.
var (
	// ErrAlreadyPaid says that the chain has the very transfer that is asked for.
	ErrAlreadyPaid = errors.New("the authorization was used to pay us before it was given to us")

	// ErrUnsettleable says that the transfer would fail now, and that nothing of
	// ours that carries it can still be mined.
	ErrUnsettleable = errors.New("the transfer would fail now")

	// ErrReverted says that a transaction of ours carried the transfer, is final,
	// and moved nothing. It is not sent again.
	ErrReverted = errors.New("the transfer failed on the chain")
)

// Funds is what a payer has, at one block, to settle open payments with.
type Funds struct {
	Balance deed.USDC
	Used    map[string]bool // the nonces asked about that were used or cancelled at that block
}

// A Refund pays back one payment.
type Refund struct {
	PaymentID string // for people; refunds that were signed as plain transfers are found by it
	Payer     deed.Wallet
	Nonce     string // of the payer's authorization
	Amount    deed.USDC
}

// Arrivals are what one reading of the chain found.
type Arrivals struct {
	Transfers []Transfer
	Unread    []UnreadBlock
	Next      uint64 // the block to read from next
}

// An UnreadBlock could not be read, however little was asked for. It is put
// aside for people, and the blocks behind it are read.
type UnreadBlock struct {
	Number uint64
	Reason string
}

// A Transfer is money that an authorization moved to us on the chain, whoever
// sent it there. Its amount is above zero.
type Transfer struct {
	Payer  deed.Wallet
	PayTo  deed.Wallet // which of our treasuries
	Nonce  string      // of the authorization
	Amount deed.USDC
	TxHash string
	Block  uint64
	At     time.Time
}

// A Payout is money that left one of our refund wallets on the chain.
type Payout struct {
	To     deed.Wallet
	Amount deed.USDC
	TxHash string
	Block  uint64
}

// Reserves are what our own wallets have to work with. Each number says how many
// the wallet could pay for at the highest fee it would offer now.
type Reserves struct {
	Gas         *big.Int  // in the gas wallet, in wei
	Settlements int64     // of one payment each
	Batches     int64     // of as many payments as share a transaction
	Refunds     int64     // by the gas of the refund wallet
	USDC        deed.USDC // in the refund wallet
}

// Refused says whether a Settler's err is a refusal. All that is not a refusal
// leaves the outcome open.
func Refused(err error) bool {
	code := deed.CodeOf(err)
	return code == deed.CodePaymentInvalid || code == deed.CodePaymentInsufficient
}
