// Package payment turns a signed authorization into money that moved, once, and
// money that cannot be earned into money that went back, once.
//
// The order is: write down the promise and what it buys; say that the money may
// move; move it; write that down. Each is one step of Advance, and a crash
// between any two leaves a row from which the next try, or the worker, goes on
// with the same code (see order.PaymentState). What must stay true: money that
// has moved ends in one delivered purchase or in one refund to the payer; while
// its outcome is unknown nobody is asked to pay again; and money that arrived
// without us is found on the chain and goes back.
package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Store keeps payments.
type Store interface {
	// OpenNonces returns the nonces of the wallet's payments whose money has not
	// moved.
	OpenNonces(ctx context.Context, w deed.Wallet) ([]string, error)

	// AuthorizePayment writes p and the job it pays for down and claims the
	// name, or returns the payment already written under the same ID. When the
	// payer has an open payment for the same purchase, p is written as its
	// alias. Admit says, while no other payment of the payer can be opened,
	// whether this one may be; its error is returned. It fails with
	// CodeDomainUnavailable when the name is claimed.
	AuthorizePayment(ctx context.Context, p order.Payment, admit func(order.Payer) error) (order.Payment, error)

	// Payment returns the payment, or CodeNotFound.
	Payment(ctx context.Context, id string) (order.Payment, error)

	// MovePayment moves p from p.State to the next one and returns it as it now
	// is. When another try has moved it already, it stays as that try left it.
	// What belongs to the move, of the job and of the ledger, is done with it.
	MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error)

	// DelayPayment says when somebody should look at an open payment again.
	DelayPayment(ctx context.Context, id string, d order.Delay) error
}

// Books keeps what is written down about payments beside their states.
type Books interface {
	// ClaimPayment has money that came without a request buy p.Purchase, and
	// returns the payment as it then is. Attempts is how many orders were placed
	// for it before.
	ClaimPayment(ctx context.Context, p order.Payment, attempts int) (order.Payment, error)

	// RecordRevert writes down that a transfer failed on the chain, at our cost.
	RecordRevert(ctx context.Context, p order.Payment) error
}

// Queue says which payments somebody should look at.
type Queue interface {
	// DuePayments returns payments whose money is to come, each wallet's in turn.
	DuePayments(ctx context.Context, limit int) ([]string, error)

	// DueRefunds returns payments whose money is to go back.
	DueRefunds(ctx context.Context, limit int) ([]string, error)

	// Stalled returns what has made no progress since the time.
	Stalled(ctx context.Context, since time.Time) (order.Stalled, error)
}

// How long we wait for what.
const (
	firstRetry = 2 * time.Second
	maxRetry   = time.Minute
	stallAfter = time.Minute // what makes no progress for so long is shown to operators
)

// Service collects and returns money. Fill every field but Reserve, Restoring and
// Step.
type Service struct {
	Store   Store
	Books   Books
	Queue   Queue
	Watch   WatchStore
	Settler settle.Settler
	Terms   Terms
	Now     func() time.Time
	Reserve *Reserve // may be nil

	// Restoring says that the database came from a backup: money without a row may
	// have bought something since, so it waits for registration.Restore.
	Restoring bool

	// Step is called between any two steps, where a test may let us die.
	Step func(name string)
}

// Terms is where and in what we are paid, and what a payer may do for free.
type Terms struct {
	ChainID uint64
	Asset   deed.Wallet // the token
	First   uint64      // block from which on the treasury is ours: what came before it is not looked at

	MaxOpen      int           // payments of one wallet whose money has not moved
	ReleaseAfter time.Duration // how long a payment may be stuck before its name and place are given up
	ClaimWindow  time.Duration // how long money that came without a request waits for its payer
	Dust         deed.USDC     // less than this is not sent back by itself
}

// DefaultTerms are the terms that an operator need not set.
func DefaultTerms() Terms {
	return Terms{MaxOpen: 5, ReleaseAfter: time.Minute, ClaimWindow: 5 * time.Minute, Dust: 5 * deed.Cent}
}

// Advance takes the payment as far as it goes now and returns it as it then is.
// It may be called by anyone, at any time, any number of times at once.
//
// It fails with order.Pending while the outcome of a settlement or a refund is
// open. A payment that the chain refuses for good becomes void, and that is not
// an error.
func (s *Service) Advance(ctx context.Context, id string) (order.Payment, error) {
	p, err := s.Store.Payment(ctx, id)
	for err == nil {
		s.step(string(p.State))
		// Each step makes at most one outside call and one transaction.
		switch p.State {
		case order.PaymentAuthorized:
			if p.AliasOf != "" {
				return p, nil
			}
			p, err = s.Store.MovePayment(ctx, p, order.PaymentSettling, "")
		case order.PaymentSettling:
			p, err = s.settle(ctx, p)
		case order.PaymentUnclaimed:
			if p, err = s.giveUpClaim(ctx, p); p.State == order.PaymentUnclaimed {
				return p, err
			}
		case order.PaymentRefundDue:
			p, err = s.Store.MovePayment(ctx, p, order.PaymentRefunding, "")
		case order.PaymentRefunding:
			p, err = s.refund(ctx, p)
		default:
			return p, nil
		}
	}
	return p, fmt.Errorf("advance payment %s: %w", id, err)
}

// settle is the point of no return: once the settler has been asked, only its
// own answer says whether the money moved.
func (s *Service) settle(ctx context.Context, p order.Payment) (order.Payment, error) {
	txHash, err := s.Settler.Settle(ctx, p.Auth)
	s.step("money moved")
	switch {
	case err == nil:
		return s.record(ctx, p, order.PaymentSettled, txHash)
	case settle.Refused(err):
		return s.record(ctx, p, order.PaymentVoid, "")
	case errors.Is(err, settle.ErrReverted):
		if recorded := s.Books.RecordRevert(context.WithoutCancel(ctx), p); recorded != nil {
			return p, fmt.Errorf("record the failed transfer: %w", recorded)
		}
		return s.release(ctx, p, err)
	case errors.Is(err, settle.ErrUnsettleable):
		if p.StuckAt.IsZero() || s.Now().Before(p.StuckAt.Add(s.Terms.ReleaseAfter)) {
			return p, s.later(ctx, p, err, true)
		}
		return s.release(ctx, p, err)
	}
	return p, s.later(ctx, p, err, false)
}

// release gives up a payment that cannot be settled: nobody sends it any more, its
// name is free, and money that comes after all goes back. The settler is told
// first, so that no process sends it afterwards.
func (s *Service) release(ctx context.Context, p order.Payment, cause error) (order.Payment, error) {
	if err := s.Settler.Abandon(context.WithoutCancel(ctx), p.Auth); err != nil {
		return p, s.later(ctx, p, errors.Join(cause, err), true)
	}
	s.step("abandoned")
	return s.record(ctx, p, order.PaymentReleased, "")
}

// refund sends the money back to the payer.
func (s *Service) refund(ctx context.Context, p order.Payment) (order.Payment, error) {
	txHash, err := s.Settler.Refund(ctx, settle.Refund{PaymentID: p.ID, Payer: p.Auth.Payer, Nonce: p.Auth.Nonce, Amount: p.Auth.Amount})
	s.step("money returned")
	if err != nil {
		return p, s.later(ctx, p, err, false)
	}
	return s.record(ctx, p, order.PaymentRefunded, txHash)
}

// giveUpClaim owes money back whose payer asked for nothing while there was time.
func (s *Service) giveUpClaim(ctx context.Context, p order.Payment) (order.Payment, error) {
	if s.Now().Before(p.Created.Add(s.Terms.ClaimWindow)) {
		return p, nil
	}
	return s.Store.MovePayment(ctx, p, order.PaymentRefundDue, "")
}

// record writes an outcome down, also when the caller has left meanwhile: the
// money does not wait for anybody.
func (s *Service) record(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error) {
	return s.Store.MovePayment(context.WithoutCancel(ctx), p, to, txHash)
}

// later leaves the payment to the worker for a while, longer each time, and says
// that its outcome is open.
func (s *Service) later(ctx context.Context, p order.Payment, cause error, stuck bool) error {
	wait := min(firstRetry<<min(p.Tries, 10), maxRetry)
	d := order.Delay{Until: s.Now().Add(wait), Stuck: stuck, Cause: order.WaitingFor(cause)}
	if err := s.Store.DelayPayment(context.WithoutCancel(ctx), p.ID, d); err != nil {
		return fmt.Errorf("leave it to the worker: %w", err)
	}
	return order.Pending(cause)
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("payment: " + name)
	}
}

// Due returns payments that Advance should be called for now.
func (s *Service) Due(ctx context.Context, limit int) ([]string, error) {
	return s.Queue.DuePayments(ctx, limit)
}

// DueRefunds returns payments whose refund Advance should be called for now.
func (s *Service) DueRefunds(ctx context.Context, limit int) ([]string, error) {
	return s.Queue.DueRefunds(ctx, limit)
}

// Stalled returns what has made no progress for a minute.
func (s *Service) Stalled(ctx context.Context) (order.Stalled, error) {
	return s.Queue.Stalled(ctx, s.Now().Add(-stallAfter))
}
