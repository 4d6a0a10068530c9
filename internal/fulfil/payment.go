// Package fulfil is the engine for everything that is paid: it settles signed
// authorizations exactly once, has what they paid for delivered, and refunds payments
// that cannot be delivered exactly once.
//
// Buy quotes, collects, and waits a while for the job that the payment started. What
// is sold, and how it is delivered, is up to an order.Kind. The steps of a payment
// are: store the authorization and its purchase, as settling; submit the transfer;
// store the result. Each is one step of Advance, and a crash between any two leaves a
// row from which the next request, or the worker, continues with the same code (see
// order.PaymentState). Invariants: a settled payment ends in one delivered purchase or
// in one refund to the payer; while its outcome is unknown the payer is never asked to
// pay again; and transfers that arrive without a request are found on the chain and
// refunded.
package fulfil

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Store stores payments.
type Store interface {
	// OpenNonces returns the nonces of the wallet's payments that have not settled.
	OpenNonces(ctx context.Context, w deed.Wallet) ([]string, error)

	// AuthorizePayment stores p and its job and claims the name, or returns the
	// existing payment with the same ID. It is settling if p.State says so, else
	// authorized. When the payer has an open payment for the same purchase, p is
	// stored as its alias. Admit decides whether the payment may be opened, while the
	// payer is locked; its error is returned. It fails with CodeDomainUnavailable when
	// the name is claimed.
	AuthorizePayment(ctx context.Context, p order.Payment, admit func(order.Payer) error) (order.Payment, error)

	// Payment returns the payment, or CodeNotFound.
	Payment(ctx context.Context, id string) (order.Payment, error)

	// MovePayment moves p from p.State to the next state and returns the result.
	// When another process has moved it already, it is left unchanged. The job and
	// the ledger are updated in the same transaction.
	MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error)

	// DelayPayment sets when an open payment is retried.
	DelayPayment(ctx context.Context, id string, d order.Delay) error
}

// Books stores claims and reverts of payments.
type Books interface {
	// ClaimPayment assigns a transfer that arrived without a request to p.Purchase,
	// and returns the resulting payment. Placed are the orders that were placed for it
	// before.
	ClaimPayment(ctx context.Context, p order.Payment, placed order.Placed) (order.Payment, error)

	// RecordRevert stores that a transfer reverted, at the cost of our gas.
	RecordRevert(ctx context.Context, p order.Payment) error
}

// Queue returns the payments that are due: to settle, round-robin over wallets, and to
// refund.
type Queue interface {
	DuePayments(ctx context.Context, limit int) ([]string, error)
	DueRefunds(ctx context.Context, limit int) ([]string, error)

	// Stalled returns the payments without progress since the time.
	Stalled(ctx context.Context, since time.Time) (order.Stalled, error)
}

// Retry delays and thresholds.
const (
	firstRetry = 2 * time.Second
	maxRetry   = time.Minute
	stallAfter = time.Minute // without progress for so long, a payment is reported to operators
)

// Service sells, settles and refunds. Fill every field but Reserve, Reverts, Admit,
// Restoring, Pause and Step.
type Service struct {
	Jobs     JobStore
	JobQueue JobQueue
	Kinds    []order.Kind
	Wait     time.Duration // how long a request waits for its job

	// Pause waits briefly before a job is read again that a request waits for. It
	// returns false when the request must not wait. If nil, no request waits.
	Pause func(ctx context.Context, j order.Job) bool

	Store    Store
	Books    Books
	Queue    Queue
	Watch    WatchStore
	Verifier settle.Verifier
	Settler  settle.Settler
	Refunder settle.Refunder
	Watcher  settle.Watcher
	Terms    Terms
	Now      func() time.Time
	Reserve  *Reserve     // may be nil
	Reverts  *RevertLimit // may be nil

	// Admit decides whether a wallet may buy something new; "" for a caller who has
	// not said who pays. It may be nil.
	Admit func(ctx context.Context, payer deed.Wallet) error

	// Restoring is set while a backup is being restored: a transfer without a row
	// may have bought something since, so it waits for registration.Restore.
	Restoring bool

	// Step is called between any two steps, so that a test can crash there.
	Step func(name string)

	working  working
	arriving arriving
}

// Advance moves the payment as far as possible and returns the result. It is
// idempotent and safe for concurrent use.
//
// It fails with order.Pending while the outcome of a settlement or a refund is
// pending. A payment that the chain refuses permanently becomes void, which is not
// an error.
func (s *Service) Advance(ctx context.Context, id string) (order.Payment, error) {
	p, err := s.Store.Payment(ctx, id)
	if err != nil {
		return p, fmt.Errorf("advance payment %s: %w", id, err)
	}
	return s.advance(ctx, p)
}

// advance is Advance for a payment that was just read.
func (s *Service) advance(ctx context.Context, p order.Payment) (order.Payment, error) {
	id, err := p.ID, error(nil)
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

// settle is the point of no return: once the settler was called, only its own
// answer tells whether the money moved.
func (s *Service) settle(ctx context.Context, p order.Payment) (order.Payment, error) {
	txHash, err := s.Settler.Settle(ctx, p.Auth)
	s.step("money moved")
	switch {
	case err == nil:
		return s.settled(ctx, p, txHash)
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

// settled records that the payment was settled, and delivers in the same transaction where
// that is possible.
func (s *Service) settled(ctx context.Context, p order.Payment, txHash string) (order.Payment, error) {
	kind, _ := s.kind(p.Purchase.Kind)
	if d, ok := kind.(order.Deliverer); ok {
		next, done, err := d.DeliverSettled(context.WithoutCancel(ctx), p, txHash)
		if err == nil && done {
			return next, nil
		} // otherwise, also after an error, the job delivers it when the payment is settled
	}
	return s.record(ctx, p, order.PaymentSettled, txHash)
}

// release gives up a payment that cannot be settled: it is never submitted again, its
// name is free, and a transfer that arrives after all is refunded. The settler
// abandons it first, so that no process submits it afterwards. If it cannot abandon
// payments, they are retried until they expire.
func (s *Service) release(ctx context.Context, p order.Payment, cause error) (order.Payment, error) {
	settler, ok := s.Settler.(settle.Abandoner)
	if !ok {
		return p, s.later(ctx, p, cause, true)
	}
	if err := settler.Abandon(context.WithoutCancel(ctx), p.Auth); err != nil {
		return p, s.later(ctx, p, errors.Join(cause, err), true)
	}
	s.step("abandoned")
	return s.record(ctx, p, order.PaymentReleased, "")
}

// Release gives up a payment that waits to be settled, when an operator asks for it.
// It fails when the payment is in another state, or may still be settled.
func (s *Service) Release(ctx context.Context, id string) error {
	p, err := s.Store.Payment(ctx, id)
	if err != nil {
		return err
	}
	if p.State != order.PaymentSettling {
		return deed.Errorf(deed.CodeValidation, "the payment is %s by now: only one that waits to be settled can be released", p.State)
	}
	_, err = s.release(ctx, p, errors.New("an operator releases it"))
	return err
}

// refund pays the amount, or a part of it, back to the payer.
func (s *Service) refund(ctx context.Context, p order.Payment) (order.Payment, error) {
	txHash, err := s.Refunder.Refund(ctx, p.Refund())
	s.step("money returned")
	if err != nil {
		return p, s.later(ctx, p, err, false)
	}
	return s.record(ctx, p, order.PaymentRefunded, txHash)
}

// giveUpClaim makes an unclaimed payment due for refund after the claim window, unless it
// waits for a decision.
func (s *Service) giveUpClaim(ctx context.Context, p order.Payment) (order.Payment, error) {
	if p.Lost || s.Now().Before(p.Created.Add(s.Terms.ClaimWindow)) {
		return p, nil
	}
	return s.Store.MovePayment(ctx, p, order.PaymentRefundDue, "")
}

// record stores an outcome even if the caller's context was cancelled: the transfer
// has happened.
func (s *Service) record(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error) {
	return s.Store.MovePayment(context.WithoutCancel(ctx), p, to, txHash)
}

// later leaves the payment to the worker with exponential backoff, and returns
// order.Pending.
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
	due, err := s.Queue.DuePayments(ctx, limit)
	return s.working.without(due), err
}

// DueRefunds returns payments whose refund Advance should be called for now.
func (s *Service) DueRefunds(ctx context.Context, limit int) ([]string, error) {
	return s.Queue.DueRefunds(ctx, limit)
}

// Stalled returns the payments without progress for stallAfter.
func (s *Service) Stalled(ctx context.Context) (order.Stalled, error) {
	return s.Queue.Stalled(ctx, s.Now().Add(-stallAfter))
}
