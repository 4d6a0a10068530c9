package deed

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
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
	Balance USDC
	Used    map[string]bool // the nonces asked about that were used or cancelled at that block
}

// A Refund pays back one payment.
type Refund struct {
	PaymentID string // for people; refunds that were signed as plain transfers are found by it
	Payer     Wallet
	Nonce     string // of the payer's authorization
	Amount    USDC
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
	Payer  Wallet
	PayTo  Wallet // which of our treasuries
	Nonce  string // of the authorization
	Amount USDC
	TxHash string
	Block  uint64
	At     time.Time
}

// A Payout is money that left one of our refund wallets on the chain.
type Payout struct {
	To     Wallet
	Amount USDC
	TxHash string
	Block  uint64
}

// aliasesPerPayment is how often, times the limit of open payments, one that is
// open may be signed anew by a client that lost its answer.
const aliasesPerPayment = 4

// Admit says whether the payer may open another payment of the amount: there must
// be money for it and for all that is open and not yet used, as of the block at
// which the balance was read, and no more than limit payments in all. It fails
// with CodePaymentInsufficient or CodeRateLimited.
func (p Payer) Admit(f Funds, w Wallet, amount USDC, limit int, now time.Time) error {
	if now.Before(p.RefusedUntil) {
		return &Error{
			Code: CodeRateLimited, Limit: MaxReverts,
			Message: fmt.Sprintf("payments of %s failed on the chain three times in a day: it can pay again after %s", w, p.RefusedUntil.UTC().Format(time.RFC3339)),
			Retry:   p.RefusedUntil.Sub(now),
		}
	}
	count, left := 1, f.Balance-amount
	for _, o := range p.Open {
		if !f.Used[o.Nonce] {
			count++
			left -= o.Amount
		}
	}
	switch {
	case count > limit, p.Aliases > aliasesPerPayment*limit:
		return &Error{
			Code: CodeRateLimited, Limit: limit,
			Message: fmt.Sprintf("%s has %d payments that are not settled yet, which is the limit: nothing was charged, try again when one of them has ended", w, limit),
			Retry:   5 * time.Second,
		}
	case left < 0:
		return Errorf(CodePaymentInsufficient, "the wallet %s has %s USDC, of which %s are promised in other payments, and %s are asked",
			w, f.Balance, f.Balance-amount-left, amount)
	}
	return nil
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

// ErrNoOffer is in the chain of a CodePaymentInvalid after which a caller must not
// be offered to pay again.
var ErrNoOffer = errors.New("nothing is offered")

// Pending returns an Error for a payment whose settlement is open because of
// cause.
func Pending(cause error) error {
	return &Error{
		Code:    CodeUnavailable,
		Message: "the payment is being settled: repeat this request with the same payment, do not pay again",
		Retry:   2 * time.Second,
		Err:     &pending{cause},
	}
}

// pending is ErrPending with why.
type pending struct{ cause error }

func (e *pending) Error() string   { return fmt.Sprintf("%v: %v", ErrPending, e.cause) }
func (e *pending) Unwrap() []error { return []error{ErrPending, e.cause} }

// ids are the parts of a message that differ from payment to payment.
var ids = regexp.MustCompile(`(pay|job)_[0-9a-f]+|0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b`)

// maxCause bounds what is stored and logged of a cause.
const maxCause = 300 // bytes

// WaitingFor returns why something waits, in words that are the same for all that
// wait for the same reason.
func WaitingFor(err error) string {
	if p, ok := errors.AsType[*pending](err); ok {
		err = p.cause
	}
	text := ids.ReplaceAllString(err.Error(), "…")
	if len(text) > maxCause {
		text = text[:maxCause]
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
