// Package payment turns a signed authorization into money that moved, once, and
// money that cannot be earned into money that went back, once.
//
// The order is: write down the promise and what it buys; say that the money may
// move; move it; write that down. Each is one step of Advance, and a crash
// between any two leaves a row from which the next try, or the worker, goes on
// with the same code (see deed.PaymentState). What must stay true: money that
// has moved ends in one delivered purchase or in one refund to the payer; while
// its outcome is unknown nobody is asked to pay again; and money that arrived
// without us is found on the chain and goes back.
package payment

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
)

// Store keeps payments.
type Store interface {
	// AuthorizePayment writes p and the job it pays for down and claims the
	// name, or returns the payment already written under the same ID. When the
	// payer has an open payment for the same purchase, p is written as its
	// alias. It fails with CodeDomainUnavailable when the name is claimed.
	AuthorizePayment(ctx context.Context, p deed.Payment) (deed.Payment, error)

	// Payment returns the payment, or CodeNotFound.
	Payment(ctx context.Context, id string) (deed.Payment, error)

	// MovePayment moves p from p.State to the next one and returns it as it now
	// is. When another try has moved it already, it stays as that try left it.
	// What belongs to the move, of the job and of the ledger, is done with it.
	MovePayment(ctx context.Context, p deed.Payment, to deed.PaymentState, txHash string) (deed.Payment, error)

	// DelayPayment says when somebody should look at an open payment again.
	DelayPayment(ctx context.Context, id string, until time.Time) error

	// DuePayments returns payments that somebody should look at now.
	DuePayments(ctx context.Context, most int) ([]string, error)
}

// retry is how long the worker leaves a payment alone whose outcome is open.
const retry = 2 * time.Second

// Service collects and returns money. Fill every field but Reserve and Step.
type Service struct {
	Store   Store
	Watch   WatchStore
	Settler deed.Settler
	Terms   Terms
	Now     func() time.Time
	Reserve *Reserve // may be nil

	// Step is called between any two steps, where a test may let us die.
	Step func(name string)
}

// Terms is where and in what we are paid.
type Terms struct {
	ChainID uint64
	Asset   deed.Wallet // the token
	PayTo   deed.Wallet
	First   uint64 // block from which on the treasury is ours: what came before it is not looked at
}

// Advance takes the payment as far as it goes now and returns it as it then is.
// It may be called by anyone, at any time, any number of times at once.
//
// It fails with deed.Pending while the outcome of a settlement or a refund is
// open. A payment that the chain refuses for good becomes void, and that is not
// an error.
func (s *Service) Advance(ctx context.Context, id string) (deed.Payment, error) {
	p, err := s.Store.Payment(ctx, id)
	for err == nil {
		s.step(string(p.State))
		// Each step makes at most one outside call and one transaction.
		switch p.State {
		case deed.PaymentAuthorized:
			if p.AliasOf != "" {
				return p, nil
			}
			p, err = s.Store.MovePayment(ctx, p, deed.PaymentSettling, "")
		case deed.PaymentSettling:
			p, err = s.settle(ctx, p)
		case deed.PaymentRefundDue:
			p, err = s.Store.MovePayment(ctx, p, deed.PaymentRefunding, "")
		case deed.PaymentRefunding:
			p, err = s.refund(ctx, p)
		default:
			return p, nil
		}
	}
	return p, fmt.Errorf("advance payment %s: %w", id, err)
}

// settle is the point of no return: once the settler has been asked, only its
// own answer says whether the money moved.
func (s *Service) settle(ctx context.Context, p deed.Payment) (deed.Payment, error) {
	txHash, err := s.Settler.Settle(ctx, p.Auth)
	s.step("money moved")
	switch {
	case err == nil:
		return s.record(ctx, p, deed.PaymentSettled, txHash)
	case deed.Refused(err):
		return s.record(ctx, p, deed.PaymentVoid, "")
	}
	return p, s.later(ctx, p, err)
}

// refund sends the money back to the payer.
func (s *Service) refund(ctx context.Context, p deed.Payment) (deed.Payment, error) {
	txHash, err := s.Settler.Refund(ctx, p.ID, p.Auth.Payer, p.Auth.Amount)
	s.step("money returned")
	if err != nil {
		return p, s.later(ctx, p, err)
	}
	return s.record(ctx, p, deed.PaymentRefunded, txHash)
}

// record writes an outcome down, also when the caller has left meanwhile: the
// money does not wait for him.
func (s *Service) record(ctx context.Context, p deed.Payment, to deed.PaymentState, txHash string) (deed.Payment, error) {
	return s.Store.MovePayment(context.WithoutCancel(ctx), p, to, txHash)
}

// later leaves the payment to the worker for a while and says that its outcome
// is open.
func (s *Service) later(ctx context.Context, p deed.Payment, cause error) error {
	if err := s.Store.DelayPayment(context.WithoutCancel(ctx), p.ID, s.Now().Add(retry)); err != nil {
		return fmt.Errorf("leave it to the worker: %w", err)
	}
	return deed.Pending(cause)
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("payment: " + name)
	}
}

// Due returns payments that Advance should be called for now.
func (s *Service) Due(ctx context.Context, most int) ([]string, error) {
	return s.Store.DuePayments(ctx, most)
}
