// Package settle has the interfaces of what moves money for us, split by who can
// implement them. A Verifier checks signed authorizations (EIP-3009) and a Settler
// settles them: a remote x402 facilitator can do both. Abandoner, Refunder, Watcher
// and RefundFinder need a chain, and wallets of our own on it.
//
// The implementation for EVM chains is in chain/, the suite in settletest/.
package settle

import (
	"context"
	"errors"
	"math/big"
	"time"

	"deed.example/deed"
)

// A Verifier checks authorizations. Implementations must be safe for concurrent use.
type Verifier interface {
	// Check checks whether the authorization could be settled now, and returns the
	// payer's funds at that block; open are the nonces of the payer's other open
	// payments. It fails with CodePaymentInvalid when the authorization is malformed,
	// for another chain or token, badly signed, not valid at this time or used, with
	// CodePaymentInsufficient when the payer's balance is too low, with ErrAlreadyPaid
	// when its transfer to us is on the chain already, and without a code when the
	// chain does not respond. It changes nothing.
	//
	// Without open nonces the balance may be less than the payer has, but not less than
	// the amount of the authorization.
	//
	// A Verifier that cannot read balances returns the amount of the authorization as
	// the balance, since that much is there. Its payers can have one open payment at
	// a time.
	Check(ctx context.Context, a Authorization, open []string) (Funds, error)
}

// A Settler moves the money of signed authorizations to us.
//
// Implementations must be safe for concurrent use, by several processes on one
// database, and idempotent: a repeated request, even after the process crashed or its
// response was lost, is continued and never done twice. One that sends
// transactions itself stores their exact signed bytes before it sends them. Nothing
// that a third party puts on the chain may stop it. Every implementation passes the
// suite in settletest.
type Settler interface {
	// Settle returns one of four outcomes:
	//
	//	settled     the transaction, once its transfer is as deep as its amount requires
	//	refused     an error for which Refused is true: the money has not moved
	//	            and can never move any more
	//	stuck       ErrUnsettleable or ErrReverted: no transaction of ours that
	//	            carries it can still be mined; the payer may still move the money
	//	unknown     any other error: the money may have moved, or may move later;
	//	            call again, with the same authorization
	//
	// An authorization for another chain or token has an unknown outcome.
	Settle(ctx context.Context, a Authorization) (txHash string, err error)
}

// An Abandoner gives authorizations up. A Settler may implement it; payments of one
// that does not are retried until they expire.
type Abandoner interface {
	// Abandon abandons an authorization for which Settle returned stuck: from then on
	// no process sends it, and Settle returns settled, refused or stuck. It fails when
	// one of our transactions may still carry it.
	Abandon(ctx context.Context, a Authorization) error
}

// A Refunder pays refunds. The rules for a Settler apply to it, too, and payments never
// delay refunds.
type Refunder interface {
	// Refund refunds the payment of an authorization, or a part of it, once for each
	// payer and nonce, whatever our database has stored: after a refund with one label
	// another is an error. It returns settled or unknown, as Settle does.
	Refund(ctx context.Context, r Refund) (txHash string, err error)
}

// A Watcher finds transfers to us, whoever sent them. Implementations must be safe for
// concurrent use.
type Watcher interface {
	// Incoming returns the final transfers by authorization into our treasuries,
	// beginning at the block, or earlier when that is not final yet.
	Incoming(ctx context.Context, from uint64) (Arrivals, error)
}

// A CodeReader tells which wallets are contracts. A Verifier may implement it.
type CodeReader interface {
	// HasCode reports whether the wallet has code, its own or delegated (EIP-7702).
	HasCode(ctx context.Context, w deed.Wallet) (bool, error)
}

// A RefundFinder finds refunds that our database does not have, as after a restore.
// A Refunder may implement it.
type RefundFinder interface {
	// Refunded reports whether the chain has the refund.
	Refunded(ctx context.Context, r Refund) (bool, error)

	// RefundedAmount returns what was refunded of the payment with that label, or 0. It
	// fails while the refund is not final.
	RefundedAmount(ctx context.Context, r Refund) (deed.USDC, error)
}

// Errors of a Verifier and a Settler.
var (
	// ErrAlreadyPaid says that the chain has the transfer already.
	ErrAlreadyPaid = errors.New("the authorization was used to pay us before it was given to us")

	// ErrUnsettleable says that the transfer would fail now, and that none of our
	// transactions with it can still be mined.
	ErrUnsettleable = errors.New("the transfer would fail now")

	// ErrReverted says that our transaction with the transfer is final and moved
	// nothing. It is not sent again.
	ErrReverted = errors.New("the transfer failed on the chain")
)

// Funds are the payer's balance and used nonces at one block.
type Funds struct {
	Balance deed.USDC
	Used    map[string]bool // those of the requested nonces that were used or cancelled
	Deploys bool            // the payment must deploy the payer's wallet, at the cost of our gas
}

// A Refund is the refund of one payment, or of a part of it.
type Refund struct {
	PaymentID string // for messages; refunds that were signed as plain transfers are found by it
	Payer     deed.Wallet
	Nonce     string // of the payer's authorization
	Amount    deed.USDC
	Label     string // one of RefundLabels; "" for the refund of a payment that bought nothing
}

// RefundLabels are all labels of refunds.
var RefundLabels = []string{"", "undo", "change"}

// Arrivals are the result of one call of Incoming.
type Arrivals struct {
	Transfers []Transfer
	Unread    []UnreadBlock
	Next      uint64 // the block to read from next
	Final     uint64 // the newest final block when it was read: there is more to read up to it
}

// An UnreadBlock could not be read, however small the request. It is stored for
// operators, and the blocks after it are read.
type UnreadBlock struct {
	Number uint64
	Reason string
}

// A Transfer is a transfer to us by authorization, whoever sent the transaction. Its
// amount is above zero.
type Transfer struct {
	Payer  deed.Wallet
	PayTo  deed.Wallet // which of our treasuries
	Nonce  string      // of the authorization
	Amount deed.USDC
	TxHash string
	Block  uint64
	At     time.Time
}

// A Payout is a transfer out of one of our refund wallets.
type Payout struct {
	To     deed.Wallet
	Amount deed.USDC
	TxHash string
	Block  uint64
}

// Reserves are the balances of our wallets. Each count is how many transactions the
// wallet could pay for at the highest fee that it would offer now.
type Reserves struct {
	Gas         *big.Int  // in the gas wallet, in wei
	Settlements int64     // of one payment each
	Batches     int64     // of as many payments as share a transaction
	Refunds     int64     // by the gas of the refund wallet
	USDC        deed.USDC // in the refund wallet
}

// Refused reports whether an error of a Verifier or a Settler is a refusal. After any other error
// the outcome is unknown.
func Refused(err error) bool {
	code := deed.CodeOf(err)
	return code == deed.CodePaymentInvalid || code == deed.CodePaymentInsufficient
}
