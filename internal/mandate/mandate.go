// Package mandate renews names automatically: the owner of a name signs the payments
// of its coming renewals in advance (EIP-3009), and each is used once, when its renewal
// is due.
//
// An authorization moves exactly its amount, so the amount is the most that the renewal
// may cost. The price of the day is charged, and the rest goes back with the delivery.
// From the moment it is used, a mandate is a payment like any other: package fulfil
// settles it, and refunds it when the renewal fails. This package does what comes
// before: it decides which authorizations are accepted, when they are used, and what
// their owner is told.
package mandate

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Store stores mandates. Signatures are stored encrypted.
type Store interface {
	// Create stores mandates of one name, all or none, with their IDs. It fails with
	// CodeValidation when there is one for the expiry, when a nonce was given before, or
	// when they are too many, and with CodeOwnershipDenied when the name has another
	// owner.
	Create(ctx context.Context, name deed.Name, all []order.Mandate) ([]order.Mandate, error)

	// List returns the mandates of an owner for a name, the latest expiry first,
	// without signatures.
	List(ctx context.Context, owner deed.Wallet, name deed.Name) ([]order.Mandate, error)

	// Active returns the mandates of a name that are active or paying, without
	// signatures.
	Active(ctx context.Context, name deed.Name) ([]order.Mandate, error)

	// Revoke ends the active mandates of an owner for a name, or the one with the id,
	// and returns them. Their signatures are erased.
	Revoke(ctx context.Context, owner deed.Wallet, name deed.Name, id string) ([]order.Mandate, error)

	// Mandate returns a mandate with its signature, or CodeNotFound.
	Mandate(ctx context.Context, id string) (order.Mandate, error)

	// Due returns mandates that Advance should be called for now.
	Due(ctx context.Context, limit int) ([]string, error)

	// Delay sets when an active mandate is looked at again, with its Reason and what
	// its owner was told; with tell, an event tells it.
	Delay(ctx context.Context, m order.Mandate, next time.Time, tell bool) error

	// End ends an active mandate.
	End(ctx context.Context, m order.Mandate, to order.MandateState, reason string) error
}

// Names reads registrations.
type Names interface {
	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)
}

// Prices quotes renewals.
type Prices interface {
	Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error)
	Years(tld deed.TLD) (least, most int, err error) // of one order
	GraceDays(tld deed.TLD) int
}

// Engine checks and uses authorizations; fulfil.Service implements it.
type Engine interface {
	// CheckMandate checks an authorization whose time has not come.
	CheckMandate(ctx context.Context, a settle.Authorization) error

	// UseMandate buys the renewal.
	UseMandate(ctx context.Context, m order.Mandate, p order.Purchase) error
}

// Service accepts, lists, revokes and uses mandates. Fill every field.
type Service struct {
	Store   Store
	Names   Names
	Prices  Prices
	Engine  Engine
	Asset   network.Asset // that mandates are signed for
	PayTo   deed.Wallet
	Ceiling deed.USDC        // the most that any order may cost
	Now     func() time.Time // the registry's clock
}

// A Plan is what an owner can sign.
type Plan struct {
	Name  deed.Name
	Price deed.USDC // of a year, today
	Cap   deed.USDC
	Slots []Slot
}

// A Slot is a coming renewal; Taken if there is a mandate for it.
type Slot struct {
	order.MandateSlot
	Taken bool
}

// Plan returns the next renewals of a name that the wallet owns, as many as there are
// years. A cap of zero means the default.
func (s *Service) Plan(ctx context.Context, who deed.Wallet, name deed.Name, years int, limit deed.USDC) (Plan, error) {
	r, price, err := s.owned(ctx, who, name)
	if err != nil {
		return Plan{}, err
	}
	if years < 1 || years > order.MaxMandates {
		return Plan{}, deed.Invalid("years", "must be from 1 to %d", order.MaxMandates)
	}
	if limit == 0 {
		limit = min(order.DefaultCap(price), s.Ceiling)
	}
	if err := order.CheckCap(limit, price, s.Ceiling); err != nil {
		return Plan{}, err
	}
	active, err := s.Store.Active(ctx, name)
	if err != nil {
		return Plan{}, fmt.Errorf("read the mandates of %s: %w", name, err)
	}
	p := Plan{Name: name, Price: price, Cap: limit}
	for _, slot := range order.MandateSlots(r, s.Prices.GraceDays(name.TLD()), s.Now()) {
		if len(p.Slots) == years {
			break
		}
		one := Slot{MandateSlot: slot}
		for _, m := range active {
			one.Taken = one.Taken || m.Renews(slot.Expires)
		}
		p.Slots = append(p.Slots, one)
	}
	return p, nil
}

// owned returns a registration of the wallet that can have mandates, and the price of a
// year.
func (s *Service) owned(ctx context.Context, who deed.Wallet, name deed.Name) (r lifecycle.Registration, price deed.USDC, err error) {
	if r, err = s.Names.Registration(ctx, name); err != nil {
		return r, 0, err
	}
	if err := r.OwnedBy(who); err != nil {
		return r, 0, err
	}
	if r.Status != lifecycle.StatusActive && r.Status != lifecycle.StatusExpired {
		return r, 0, deed.Invalid("domain", "the status of %s is %s, and a mandate can be signed for a name that is active", name, r.Status)
	}
	if least, most, err := s.Prices.Years(name.TLD()); err == nil && least > 1 {
		return r, 0, deed.Invalid("domain", "a mandate renews a name for one year, and .%s is renewed for %s at once: renew it when it is due", name.TLD(), order.Term(least, most))
	}
	q, err := s.Prices.Renewal(r, 1, false)
	return r, q.Amount, err
}

// A Signed is an authorization for the renewal of one expiry.
type Signed struct {
	Expires time.Time
	Auth    settle.Authorization
}

// Create stores mandates for a name that the wallet owns, all or none. Everything that
// can be checked is checked first.
func (s *Service) Create(ctx context.Context, who deed.Wallet, name deed.Name, in []Signed) ([]order.Mandate, error) {
	r, price, err := s.owned(ctx, who, name)
	if err != nil {
		return nil, err
	}
	if len(in) < 1 || len(in) > order.MaxMandates {
		return nil, deed.Invalid("mandates", "must be from 1 to %d", order.MaxMandates)
	}
	slots := order.MandateSlots(r, s.Prices.GraceDays(name.TLD()), s.Now())
	all := make([]order.Mandate, len(in))
	for i, one := range in {
		one.Auth.Asset = s.Asset
		if all[i], err = s.check(r, slots, price, one); err == nil {
			err = checkDistinct(all[:i], all[i])
		}
		if err != nil {
			return nil, deed.Within(fmt.Sprintf("mandates[%d]", i), err)
		}
	}
	for i, m := range all {
		if err := s.Engine.CheckMandate(ctx, m.Auth); err != nil {
			return nil, asValidation(fmt.Sprintf("mandates[%d]", i), err)
		}
	}
	all, err = s.Store.Create(ctx, name, all)
	if err != nil {
		return nil, fmt.Errorf("store the mandates of %s: %w", name, err)
	}
	return all, nil
}

// check returns the mandate of one authorization.
func (s *Service) check(r lifecycle.Registration, slots []order.MandateSlot, price deed.USDC, in Signed) (order.Mandate, error) {
	if in.Auth.PayTo != s.PayTo {
		return order.Mandate{}, deed.Invalid("authorization.to", "must be %s", s.PayTo)
	}
	if err := order.CheckCap(in.Auth.Amount, price, s.Ceiling); err != nil {
		return order.Mandate{}, err
	}
	for _, slot := range slots {
		if slot.Expires.Equal(in.Expires) {
			return slot.Sign(r, in.Auth)
		}
	}
	return order.Mandate{}, deed.Invalid("expiresAt", "is no coming expiry of %s, which expires at %s", r.Name, r.Expires.UTC().Format(time.RFC3339))
}

// checkDistinct fails when one of the mandates has the expiry or the nonce of m.
func checkDistinct(all []order.Mandate, m order.Mandate) error {
	for _, o := range all {
		if o.Expires.Equal(m.Expires) {
			return deed.Invalid("expiresAt", "is in the list twice")
		}
		if o.Auth.Nonce == m.Auth.Nonce {
			return deed.Invalid("authorization.nonce", "is in the list twice")
		}
	}
	return nil
}

// asValidation returns a refusal of the authorization as an error about a field: there
// is nothing to pay now.
func asValidation(field string, err error) error {
	if !settle.Refused(err) {
		return fmt.Errorf("check %s: %w", field, err)
	}
	return deed.Invalid(field, "%s", messageOf(err))
}

// List returns the mandates of the wallet for a name, the latest expiry first. A former
// owner sees those that it signed; a wallet without any must own the name.
func (s *Service) List(ctx context.Context, who deed.Wallet, name deed.Name) ([]order.Mandate, error) {
	all, err := s.Store.List(ctx, who, name)
	if err != nil {
		return nil, fmt.Errorf("read the mandates of %s: %w", name, err)
	}
	if len(all) > 0 {
		return all, nil
	}
	r, err := s.Names.Registration(ctx, name)
	if err != nil {
		return nil, err
	}
	return all, r.OwnedBy(who)
}

// Revoke ends the active mandates of the wallet for a name, or the one with the id. A
// former owner may revoke, too. It fails with CodeNotFound when there is none.
func (s *Service) Revoke(ctx context.Context, who deed.Wallet, name deed.Name, id string) ([]order.Mandate, error) {
	ended, err := s.Store.Revoke(ctx, who, name, id)
	if err != nil || len(ended) > 0 {
		return ended, err
	}
	r, err := s.Names.Registration(ctx, name)
	if err == nil {
		err = r.OwnedBy(who)
	}
	if err != nil {
		return nil, err
	}
	return nil, deed.Errorf(deed.CodeNotFound, "there is no active mandate of this wallet for %s", name)
}

// Renews reports whether there is a mandate for the present expiry of a name.
func (s *Service) Renews(ctx context.Context, r lifecycle.Registration) (bool, error) {
	active, err := s.Store.Active(ctx, r.Name)
	if err != nil {
		return false, fmt.Errorf("read the mandates of %s: %w", r.Name, err)
	}
	for _, m := range active {
		if m.Reference == r.Reference && m.Owner == r.Owner && m.Renews(r.Expires) {
			return true, nil
		}
	}
	return false, nil
}
