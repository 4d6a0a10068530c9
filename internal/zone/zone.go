// Package zone sells changes to the DNS of registered names and publishes them.
//
// A change is data. It is first validated on a copy of the zone: ownership, then
// the DNS rules. Then its price is collected, with the change stored beside the
// payment. Once the payment has settled, one transaction applies the change,
// raises the serial and consumes the payment. If a concurrent change has made it
// impossible, the payment is refunded. Publishing comes last and never undoes a
// change.
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
	// is not allowed. It returns false when another process did so first.
	ChangeZone(ctx context.Context, j order.Job) (done bool, err error)

	// RecordAt returns a record as it was after the revision, or CodeNotFound.
	RecordAt(ctx context.Context, id dnszone.RecordID, revision uint32) (dnszone.Record, error)
}

// Names reads registrations.
type Names interface {
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)
}

// Jobs reads the jobs of changes.
type Jobs interface {
	Job(ctx context.Context, id string) (order.Job, error)
	JobOf(ctx context.Context, p order.Payment) (order.Job, error)

	// DueChanges returns jobs that Advance should be called for now.
	DueChanges(ctx context.Context, limit int) ([]string, error)
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

// Service changes zones. Fill every field but Pause and Step.
type Service struct {
	Store       Store
	Names       Names
	Jobs        Jobs
	History     History
	Publish     func(ctx context.Context, name deed.Name) // publishes a change on this node at once
	NewID       func() dnszone.RecordID
	Wait        time.Duration // how long a request waits for settlement
	Now         func() time.Time
	RegistryNow func() time.Time       // the registry's clock
	Grace       func(tld deed.TLD) int // days

	// Pause waits before the next check of a pending payment. It returns false when
	// the request has waited long enough. If nil, the request does not wait.
	Pause func(ctx context.Context) bool

	// Step is called between any two steps, so that a test can crash there.
	Step func(name string)
}

// An Outcome is how far a change got while its request waited.
type Outcome struct {
	Job    order.Job
	Quote  order.Quote
	Change dnszone.Change // as it was stored, with the IDs of new records
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
	r, err := s.Names.Registration(ctx, name)
	if err != nil {
		return z, err
	}
	if phase, ended := lifecycle.PhaseAt(r.Expires, s.Grace(name.TLD()), s.RegistryNow()); phase == lifecycle.PhaseGone {
		return z, deed.Errorf(deed.CodeNotFound, "%s is not registered here any more: it was due to be deleted at %s", name, ended.UTC().Format(time.RFC3339))
	}
	return z, nil
}

// Change collects the price of a change and applies it.
//
// It fails with CodeNotFound, CodeOwnershipDenied or CodeValidation before any
// money moves, with the codes of order.Checkout, with order.ErrPending while the
// payment is pending, and with CodeDNS when the change can no longer be applied; the
// payment is then being refunded.
func (s *Service) Change(ctx context.Context, c dnszone.Change, pay order.Checkout) (Outcome, error) {
	return s.buy(ctx, order.PurchaseOf(c), pay, func(ctx context.Context) (dnszone.Change, error) {
		return c, s.Try(ctx, c)
	})
}

// Try checks whether the change could be applied now. It changes nothing.
func (s *Service) Try(ctx context.Context, c dnszone.Change) error {
	z, err := s.zone(ctx, c.Zone)
	if err != nil {
		return err
	}
	_, err = c.Apply(z, s.Now())
	return err
}

// buy collects the price of a change and applies it. It calls plan for the change
// unless the purchase is already known.
func (s *Service) buy(ctx context.Context, want order.Purchase, pay order.Checkout, plan func(ctx context.Context) (dnszone.Change, error)) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	p, q, known, err := order.Pay(ctx, pay, want, func(ctx context.Context) (order.Quote, order.Purchase, error) {
		c, err := plan(ctx)
		full := want
		full.Change = s.withIDs(c)
		return quote(c), full, err
	})
	switch {
	case err == nil:
		return s.await(ctx, p, func() (order.Payment, error) {
			p, _, err := pay.Resume(ctx, want)
			return p, err
		})
	case known:
		return s.refused(ctx, p, plan), err
	}
	return Outcome{Quote: q}, err
}

// quote returns the price of a change.
func quote(c dnszone.Change) order.Quote {
	n := c.Count()
	q := order.Quote{Amount: deed.USDC(n) * Price, For: fmt.Sprintf("1 change to the DNS of %s", c.Zone)}
	if n != 1 {
		q.For = fmt.Sprintf("%d changes to the DNS of %s", n, c.Zone)
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

// refused returns the outcome of a known payment that was not accepted. A void or
// released one may be replaced, so the price is quoted again.
func (s *Service) refused(ctx context.Context, p order.Payment, plan func(ctx context.Context) (dnszone.Change, error)) Outcome {
	if p.State.EndedUnpaid() {
		if c, err := plan(context.WithoutCancel(ctx)); err == nil {
			return Outcome{Quote: quote(c)}
		}
		return Outcome{} // no price to quote
	}
	j, err := s.Jobs.JobOf(context.WithoutCancel(ctx), p)
	if err != nil {
		return Outcome{} // no job to refer to
	}
	return Outcome{Job: j}
}

// await advances the job of a payment to its end once the payment has settled.
// Until then it re-reads the payment with again.
func (s *Service) await(ctx context.Context, p order.Payment, again func() (order.Payment, error)) (Outcome, error) {
	read := context.WithoutCancel(ctx)
	for {
		j, err := s.Jobs.JobOf(read, p)
		if deed.CodeOf(err) == deed.CodeNotFound {
			return Outcome{}, deed.Errorf(deed.CodePaymentInvalid, "this payment came on top of another for the same change: it goes back to the payer")
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("read the job of payment %s: %w", p.ID, err)
		}
		out := Outcome{Job: j, Quote: quote(j.Purchase.Change), Change: j.Purchase.Change}
		switch j.State {
		case order.JobCompleted:
			s.Publish(read, j.Purchase.Name) // the process that applied it may not have published it
			return out, nil
		case order.JobFailed:
			return out, &deed.Error{Code: deed.CodeDNS, Message: j.Failure}
		case order.JobQueued:
			if err := s.Advance(ctx, j.ID); err != nil {
				return out, order.Pending(err)
			}
		default:
			if s.Pause == nil || !s.Pause(ctx) {
				return out, order.Pending(fmt.Errorf("job %s is %s", j.ID, j.State))
			}
			if p, err = again(); err != nil {
				return out, err
			}
		}
	}
}

// Advance applies the change of a job whose payment has settled. It is idempotent
// and safe for concurrent use.
func (s *Service) Advance(ctx context.Context, id string) error {
	j, err := s.Jobs.Job(ctx, id)
	if err != nil {
		return err
	}
	s.step(string(j.State))
	if j.State != order.JobQueued {
		return nil
	}
	done, err := s.Store.ChangeZone(context.WithoutCancel(ctx), j)
	if err != nil {
		return fmt.Errorf("change the zone of job %s: %w", id, err)
	}
	s.step("changed")
	if done {
		s.Publish(ctx, j.Purchase.Name)
	}
	return nil
}

// Due returns jobs that Advance should be called for now.
func (s *Service) Due(ctx context.Context, limit int) ([]string, error) {
	return s.Jobs.DueChanges(ctx, limit)
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("change: " + name)
	}
}
