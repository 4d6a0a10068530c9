// Package registration registers, renews and transfers names, and manages them
// until they end.
//
// Service is an order.Kind: Quote validates an order for free, and Advance delivers
// it once it is paid, called by the waiting request or by the worker, on any node.
// Its steps are: store that the order is being submitted, place it at the registrar,
// store that it is being verified, look it up by our own reference, and only then
// record the registration. A missing answer is never taken for success or failure.
// From then on Lifecycle synchronizes the name with the registry, which is
// authoritative, and records the events its owner is notified of.
package registration

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// Store stores the progress of jobs.
type Store interface {
	// MoveJob stores j in its next state, to be advanced again at next. It returns
	// false when another process has moved it, or when it must wait for another job
	// of its name.
	MoveJob(ctx context.Context, j order.Job, to order.JobState, next time.Time) (moved bool, err error)

	// CompleteJob ends the job with a new or extended registration: the
	// registration is written, the claim dropped and the payment consumed, in one
	// transaction.
	CompleteJob(ctx context.Context, j order.Job, r lifecycle.Registration) error

	// FailJob ends the job without a registration: the claim is dropped and the
	// payment becomes due for refund, in one transaction.
	FailJob(ctx context.Context, j order.Job) error
}

// Names stores registrations and what happened to them.
type Names interface {
	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Taken returns those of the names that are registered here, or that are being
	// bought by anybody but the buyer, who may be "".
	Taken(ctx context.Context, names []deed.Name, buyer deed.Wallet) ([]deed.Name, error)

	// Events returns the events of a registration, oldest first.
	Events(ctx context.Context, is lifecycle.Registration) ([]lifecycle.Event, error)

	// LastEvent returns when an event of one of the types last happened to a registration,
	// or the zero time.
	LastEvent(ctx context.Context, reference string, types ...lifecycle.EventType) (time.Time, error)

	// HasOpenOrder reports whether an order for the name has not ended.
	HasOpenOrder(ctx context.Context, name deed.Name) (bool, error)

	// CompareSoon has the name compared with its registry, which shows it differently.
	CompareSoon(ctx context.Context, name deed.Name) error

	// CountActions counts the owner actions on a registration.
	CountActions(ctx context.Context, reference string) (int, error)

	// RecordAction stores an owner action and its result. It fails with
	// CodeOwnershipDenied when the name was handed over concurrently, and for a
	// handover with lifecycle.ErrConcurrentAction after another action.
	RecordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error
}

// Route chooses the registrar of an order.
type Route interface {
	// BackendOf returns the registrar that holds the name, or that sells it.
	BackendOf(ctx context.Context, name deed.Name) (string, error)

	// SellerOf returns the registrar that sells new names of the TLD.
	SellerOf(tld deed.TLD) (string, error)

	// Affords fails with CodeUnavailable when our account at the registrar cannot pay
	// for an order that we sell at this price.
	Affords(ctx context.Context, name deed.Name, price deed.USDC) error

	// Deadline returns how long its orders may take; zero for the usual time.
	Deadline(backend string) time.Duration

	// CancelTerms returns the conditions for cancelling its registrations.
	CancelTerms(backend string) lifecycle.CancelTerms
}

// Prices quotes orders.
type Prices interface {
	NewName(name deed.Name, years int, a registrar.Availability) (order.Quote, error)
	Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error)
	Transfer(name deed.Name) (order.Quote, error)
	Years(tld deed.TLD) (least, most int, err error) // of one order
	GraceDays(tld deed.TLD) int
}

// Offers stores quoted prices that are not in the price list.
type Offers interface {
	// Offered stores the price that something was offered for, and returns its
	// other prices within order.HoldPrice.
	Offered(ctx context.Context, what string, price deed.USDC, at time.Time) (others []deed.USDC, err error)
}

// Service sells and manages names. Fill every field but Route, Publish and Step.
type Service struct {
	Store       Store
	Names       Names
	Registrar   registrar.Registrar
	Route       Route // chooses the registrar of an order; nil if there is only one
	Manager     registrar.Manager
	Prices      Prices
	Offers      Offers
	Nameservers []string         // our own, for new names whose buyer specifies none
	Now         func() time.Time // shared by all nodes
	RegistryNow func() time.Time // the registry's clock
	Moves       Moves            // nil: name servers change at once
	ParentTTL   ParentTTL
	KeyRolls    KeyRolls      // nil: none
	Suspensions Suspensions   // nil: none
	Forwards    bool          // whether FORWARD records are served
	Cancels     Cancellations // nil: registrations cannot be cancelled

	Registrants Registrants                                  // nil: the operator is the registrant of all names
	Backend     func(name string) (registrar.Backend, error) // needed with Registrants
	Terms       string                                       // version of the terms that buyers agree to; may be empty

	CancelsPerWallet int // cancellations of one wallet in 30 days

	// MaxLoss is what we may lose on an order at a held price, because the registrar
	// has raised its own since.
	MaxLoss deed.USDC

	// Publish publishes the zone of a new name on this node at once, unless it has this
	// serial already; 0 is any. Other nodes follow shortly.
	Publish func(ctx context.Context, name deed.Name, serial uint32)

	// Step is called between any two steps, so that a test can crash there.
	Step func(name string)
}

// Sells implements order.Kind.
func (s *Service) Sells() []order.PurchaseKind {
	return []order.PurchaseKind{order.PurchaseRegistration, order.PurchaseRenewal, order.PurchaseTransfer}
}

// Delivered implements order.Kind: it publishes the zone of the name on this node.
func (s *Service) Delivered(ctx context.Context, j order.Job) {
	if s.Publish != nil {
		s.Publish(ctx, j.Purchase.Name, j.Revision)
	}
}

// Result returns the current registration that a completed job created or renewed.
// When it has ended since, it returns the job's result.
func (s *Service) Result(ctx context.Context, j order.Job) (lifecycle.Registration, error) {
	r, err := s.Names.Registration(ctx, j.Purchase.Name)
	isResult := j.Purchase.Kind == order.PurchaseRenewal || r.Reference == j.Reference
	if err == nil && isResult {
		return r, nil
	}
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return r, err
	}
	return lifecycle.Registration{
		Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusTransferred, Created: j.Updated, Expires: j.Until, Nameservers: j.Purchase.Nameservers,
	}, nil
}
