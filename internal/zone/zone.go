// Package zone sells changes to the DNS of registered names and publishes them.
//
// A change is data. Service is an order.Kind: Quote validates the change on a copy of
// the zone, ownership first, then the DNS rules. Its price is collected, with the
// change stored beside the payment. Once the payment has settled, one transaction of
// Advance applies the change, raises the serial and consumes the payment. If a concurrent
// change has made it impossible, the payment is refunded. Publishing comes last and never
// undoes a change.
package zone

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Price is the price of one changed record.
const Price = 10 * deed.Cent

// Store stores zones and applies the jobs that change them.
type Store interface {
	// Zone returns the zone with its owner and records, or CodeNotFound.
	Zone(ctx context.Context, name deed.Name) (dnszone.Zone, error)

	// ChangeZone applies the change of a paid job, or fails the job when the change
	// is not allowed: then the revision is 0. It returns false when another process did
	// so first.
	ChangeZone(ctx context.Context, j order.Job) (revision uint32, done bool, err error)

	// SettleChange records that the payment of a change was settled by the transaction,
	// and applies the change. It returns false, and changes nothing, when the change is
	// not allowed or another process did either first.
	SettleChange(ctx context.Context, p order.Payment, txHash string) (next order.Payment, revision uint32, done bool, err error)

	// RecordAt returns a record of a zone as it was after the revision, or CodeNotFound.
	RecordAt(ctx context.Context, name deed.Name, id dnszone.RecordID, revision uint32) (dnszone.Record, error)
}

// History reads earlier revisions of a zone.
type History interface {
	// Revisions returns the newest revisions, newest first.
	Revisions(ctx context.Context, name deed.Name) ([]dnszone.Revision, error)

	// RecordsAt returns the records of a revision, or CodeNotFound.
	RecordsAt(ctx context.Context, name deed.Name, revision uint32) ([]dnszone.Record, error)

	// Around returns the records before and after a revision, even of a zone that
	// has ended since, so that a paid change can always be looked up.
	Around(ctx context.Context, name deed.Name, revision uint32) (before, after []dnszone.Record, err error)
}

// Service changes zones. Fill every field but Step.
type Service struct {
	Store       Store
	History     History
	Publish     func(ctx context.Context, name deed.Name, serial uint32) // publishes a change on this node at once, unless it has this serial
	Changing    func(name deed.Name) (end func())                        // called before and after a change; Publish follows, also when it failed
	NewID       func() dnszone.RecordID
	Now         func() time.Time
	RegistryNow func() time.Time       // the registry's clock
	Grace       func(tld deed.TLD) int // days
	Forwards    bool                   // whether FORWARD records are served

	// Step is called between any two steps, so that a test can crash there.
	Step func(name string)
}

// Zone returns a zone to its owner.
func (s *Service) Zone(ctx context.Context, who deed.Wallet, name deed.Name) (dnszone.Zone, error) {
	z, err := s.zone(ctx, name)
	if err != nil {
		return z, err
	}
	return z, z.OwnedBy(who)
}

// zone returns the zone of a registered name. A name past its deletion date counts
// as not registered, even if that has not been recorded yet.
func (s *Service) zone(ctx context.Context, name deed.Name) (dnszone.Zone, error) {
	z, err := s.Store.Zone(ctx, name)
	if err != nil {
		return z, err
	}
	if phase, ended := lifecycle.PhaseAt(z.Expires, s.Grace(name.TLD()), s.RegistryNow()); phase == lifecycle.PhaseGone {
		return z, deed.Errorf(deed.CodeNotFound, "%s is not registered here any more: it was due to be deleted at %s", name, ended.UTC().Format(time.RFC3339))
	}
	return z, nil
}

// changeable returns a zone to its owner, who wants to change it. A name that is in
// redemption, or about to be deleted, is not served.
func (s *Service) changeable(ctx context.Context, who deed.Wallet, name deed.Name) (dnszone.Zone, error) {
	z, err := s.Zone(ctx, who, name)
	if err != nil {
		return z, err
	}
	switch phase, _ := lifecycle.PhaseAt(z.Expires, s.Grace(name.TLD()), s.RegistryNow()); phase {
	case lifecycle.PhaseRedemption:
		return z, deed.Invalid("domain", "%s is in redemption, and is not served: renew it first", name)
	case lifecycle.PhasePendingDelete:
		return z, deed.Invalid("domain", "%s is about to be deleted, and is not served", name)
	}
	return z, nil
}

// Try checks whether the change could be applied now. It changes nothing.
func (s *Service) Try(ctx context.Context, c dnszone.Change) error {
	z, err := s.changeable(ctx, c.By, c.Zone)
	if err != nil {
		return err
	}
	if err := dnszone.CheckForwards(c.Added(), s.Forwards); err != nil {
		return err
	}
	_, err = c.Apply(z, s.Now())
	return err
}

// Sells implements order.Kind.
func (s *Service) Sells() []order.PurchaseKind {
	return []order.PurchaseKind{order.PurchaseDNSAdd, order.PurchaseDNSUpdate, order.PurchaseDNSDelete, order.PurchaseDNSBatch}
}

// Complete implements order.Kind: there is nothing to fill in.
func (s *Service) Complete(p order.Purchase) order.Purchase { return p }

// ErrUnchanged is the error of an import or a rollback that leaves the zone as it is, and
// costs nothing.
var ErrUnchanged = deed.Errorf(deed.CodeValidation, "the zone has these records already: nothing is to be paid")

// Quote implements order.Kind. The change of an import or a rollback is planned here.
// It fails with CodeNotFound, CodeOwnershipDenied or CodeValidation.
func (s *Service) Quote(ctx context.Context, r order.Request) (order.Quote, order.Purchase, error) {
	c, err := r.Change, error(nil)
	switch basis := r.Basis.(type) {
	case Import:
		c, _, err = s.PlanImport(ctx, basis)
	case Rollback:
		c, _, err = s.PlanRollback(ctx, basis)
	default:
		err = s.Try(ctx, c)
	}
	if err != nil {
		return order.Quote{}, r.Purchase, err
	}
	if c.Count() == 0 {
		return order.Quote{}, r.Purchase, ErrUnchanged
	}
	full := r.Purchase
	full.Change = s.withIDs(c)
	return quote(c), full, nil
}

// quote returns the price of a change.
func quote(c dnszone.Change) order.Quote {
	n := c.Count()
	q := order.Quote{Amount: deed.USDC(n) * Price, For: fmt.Sprintf("1 change to the DNS of %s", c.Zone)}
	if n != 1 {
		q.For = fmt.Sprintf("a batch of %d changes to the DNS of %s", n, c.Zone)
	}
	return q
}

// withIDs assigns IDs to the records that the change adds.
func (s *Service) withIDs(c dnszone.Change) dnszone.Change {
	ops := append([]dnszone.RecordOp(nil), c.Ops...)
	for i := range ops {
		if ops[i].Op == dnszone.OpAdd {
			ops[i].ID = s.NewID()
		}
	}
	c.Ops = ops
	return c
}

// Advance implements order.Kind: it applies the change of a job whose payment has
// settled.
func (s *Service) Advance(ctx context.Context, j order.Job) error {
	s.step(string(j.State))
	if j.State != order.JobQueued {
		return nil
	}
	end := s.Changing(j.Purchase.Name)
	revision, done, err := s.Store.ChangeZone(context.WithoutCancel(ctx), j)
	end()
	if err == nil {
		s.step("changed")
	}
	s.publish(ctx, j.Purchase.Name, revision, done)
	if err != nil {
		return fmt.Errorf("change the zone: %w", err)
	}
	return nil
}

// publish publishes a change. When none was made, it publishes what another process may
// have changed meanwhile.
func (s *Service) publish(ctx context.Context, name deed.Name, revision uint32, done bool) {
	if !done {
		revision = 0
	}
	s.Publish(ctx, name, revision)
}

// DeliverSettled implements order.Deliverer.
func (s *Service) DeliverSettled(ctx context.Context, p order.Payment, txHash string) (order.Payment, bool, error) {
	s.step("settled")
	end := s.Changing(p.Purchase.Name)
	next, revision, done, err := s.Store.SettleChange(ctx, p, txHash)
	end()
	if done {
		s.step("changed")
	}
	s.publish(ctx, p.Purchase.Name, revision, done)
	if err != nil {
		return p, false, fmt.Errorf("change the zone: %w", err)
	}
	return next, done, nil
}

// Delivered implements order.Kind: it publishes the zone on this node.
func (s *Service) Delivered(ctx context.Context, j order.Job) {
	s.Publish(ctx, j.Purchase.Name, j.Revision)
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("change: " + name)
	}
}
