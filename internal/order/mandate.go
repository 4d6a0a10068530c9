package order

import (
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/settle"
)

// A Mandate is the payment for one coming renewal of a name, signed by its owner in
// advance. The authorization moves exactly its amount, which is the most that the
// renewal may cost (the cap): the difference to the price of that day is refunded.
type Mandate struct {
	ID        string // public and random
	Name      deed.Name
	Owner     deed.Wallet // at the time it was given, and the payer
	Reference string      // of the registration
	Expires   time.Time   // the expiry that it renews
	Auth      settle.Authorization
	State     MandateState
	Reason    string // why it ended, or may fail; may be empty
	PaymentID string // from paying on
	Created   time.Time
	Updated   time.Time

	ToldPrice bool // the owner knows that the cap is too low, or why the name cannot be renewed
	ToldFunds bool // the owner knows that the wallet cannot pay
}

// A MandateState is the state of a mandate:
//
//	active ─► paying ─► used
//	  │          └────► failed
//	  ├─► failed    it can no longer be used
//	  ├─► unneeded  the name was renewed in another way
//	  └─► revoked   by its owner, or because the name has another owner or has ended
//
// The signature is erased when a mandate leaves the state active: from then on only
// the payment has it, if there is one.
type MandateState string

// The states of a mandate.
const (
	MandateActive   MandateState = "active"
	MandatePaying   MandateState = "paying"
	MandateUsed     MandateState = "used"
	MandateFailed   MandateState = "failed"
	MandateUnneeded MandateState = "unneeded"
	MandateRevoked  MandateState = "revoked"
)

// When a mandate is used, and when its owner is warned, in days before the expiry.
const (
	MandateOpenDays  = 30
	MandatePriceDays = 60 // from then on a cap below the price is told
	MandateFundsDays = 14 // from then on a wallet that cannot pay is told
)

// Limits of mandates.
const (
	MaxMandates       = 10  // of a name: registries hold no name for longer
	MaxWalletMandates = 500 // active ones, of all names of a wallet

	maxCap = 10 // times the price: more is a mistake in writing
)

// mandateTolerance is how much the expiry of a name may differ from the one that was
// computed years before: registries treat the 29th of February differently.
const mandateTolerance = 5 * 24 * time.Hour

// ErrMandateIdle is wrapped by errors after which a mandate was not used although it
// is due, and may be used later: another renewal of the name is open.
var ErrMandateIdle = errors.New("the mandate is not used now")

// A MandateSlot is a coming renewal that a mandate can be signed for.
type MandateSlot struct {
	Expires     time.Time // the expiry that it renews
	Renewed     time.Time // the expiry afterwards
	ValidAfter  time.Time // of the authorization
	ValidBefore time.Time
}

// MandateSlots returns the coming renewals of a name, one year each, that mandates can
// be signed for.
func MandateSlots(r lifecycle.Registration, graceDays int, now time.Time) []MandateSlot {
	var slots []MandateSlot
	for n := range MaxMandates {
		expires := r.Expires.AddDate(n, 0, 0)
		s := MandateSlot{
			Expires: expires, Renewed: r.Expires.AddDate(n+1, 0, 0),
			ValidAfter: expires.AddDate(0, 0, -MandateOpenDays), ValidBefore: expires.AddDate(0, 0, graceDays),
		}
		if now.Before(s.ValidBefore) {
			slots = append(slots, s)
		}
	}
	return slots
}

// DefaultCap returns the cap that is proposed: a fifth above the price, in whole cents.
func DefaultCap(price deed.USDC) deed.USDC {
	return (price*6/5 + deed.Cent - 1) / deed.Cent * deed.Cent
}

// CheckCap fails with CodeValidation when an amount cannot be the cap of a renewal
// that costs the price today.
func CheckCap(limit, price, ceiling deed.USDC) error {
	switch most := min(maxCap*price, ceiling); {
	case limit < price:
		return deed.Invalid("capUsd", "%s USDC is below today's price of %s USDC for a year", limit, price)
	case limit > most:
		return deed.Invalid("capUsd", "%s USDC is too much: a year costs %s USDC today, and a cap is at most %s USDC", limit, price, most)
	}
	return nil
}

// Sign returns the mandate for a slot with the signed authorization, or CodeValidation
// when the authorization is not for that slot.
func (s MandateSlot) Sign(r lifecycle.Registration, a settle.Authorization) (Mandate, error) {
	switch {
	case a.Payer != r.Owner:
		return Mandate{}, deed.Invalid("authorization.from", "must be the owner of the name, %s", r.Owner)
	case a.ValidAfter != s.ValidAfter.Unix():
		return Mandate{}, deed.Invalid("authorization.validAfter", "must be %d, %d days before the expiry", s.ValidAfter.Unix(), MandateOpenDays)
	case a.ValidBefore != s.ValidBefore.Unix():
		return Mandate{}, deed.Invalid("authorization.validBefore", "must be %d, the end of the grace period", s.ValidBefore.Unix())
	}
	return Mandate{Name: r.Name, Owner: r.Owner, Reference: r.Reference, Expires: s.Expires, Auth: a, State: MandateActive}, nil
}

// A MandateStep is what to do with an active mandate now.
type MandateStep struct {
	End    MandateState // if not empty: it ends, with the reason
	Reason string
	Use    bool      // it is due
	Warn   bool      // it is time to compare the cap with the price
	Next   time.Time // otherwise: when to look again
}

// mandateCheck is how often an active mandate is looked at when nothing is due, to
// notice that it was cancelled on the chain.
const mandateCheck = 30 * 24 * time.Hour

// Step returns what to do with an active mandate of a registered name.
func (m Mandate) Step(r lifecycle.Registration, now time.Time) MandateStep {
	ahead := r.Expires.Sub(m.Expires)
	switch {
	case r.Reference != m.Reference:
		return MandateStep{End: MandateRevoked, Reason: "the name was registered anew"}
	case r.Owner != m.Owner:
		return MandateStep{End: MandateRevoked, Reason: ReasonOwnerChanged}
	case ahead > mandateTolerance:
		return MandateStep{End: MandateUnneeded, Reason: "the name was renewed in another way"}
	case !now.Before(time.Unix(m.Auth.ValidBefore, 0)):
		return MandateStep{End: MandateFailed, Reason: "its time ended before it could be used"}
	case ahead < -mandateTolerance: // an earlier renewal comes first
		return MandateStep{Warn: m.priceDue(now), Next: m.next(now)}
	case now.Unix() > m.Auth.ValidAfter:
		return MandateStep{Use: true, Next: now.Add(24 * time.Hour)}
	}
	return MandateStep{Warn: m.priceDue(now), Next: m.next(now)}
}

// ReasonOwnerChanged is why the mandates of a former owner end.
const ReasonOwnerChanged = "the name has another owner"

func (m Mandate) priceDue(now time.Time) bool {
	return !now.Before(m.Expires.AddDate(0, 0, -MandatePriceDays))
}

// FundsDue reports whether it is time to warn the owner that the wallet cannot pay.
func (m Mandate) FundsDue(now time.Time) bool {
	return !now.Before(m.Expires.AddDate(0, 0, -MandateFundsDays))
}

// next returns when to look at the mandate again: at its next date, or after a while. One
// whose time has come waits for an earlier renewal that is not recorded yet.
func (m Mandate) next(now time.Time) time.Time {
	if now.Unix() > m.Auth.ValidAfter {
		return now.Add(24 * time.Hour)
	}
	next := now.Add(mandateCheck)
	for _, at := range []time.Time{m.Expires.AddDate(0, 0, -MandatePriceDays), time.Unix(m.Auth.ValidAfter+1, 0)} {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// lastUse is how long before the end of its time a mandate is tried once more.
const lastUse = time.Hour

// Retry returns when to try a mandate again that could not be used now: after a while, but
// also shortly before its time ends, and when it has ended.
func (m Mandate) Retry(now time.Time, after time.Duration) time.Time {
	end, next := time.Unix(m.Auth.ValidBefore, 0), now.Add(after)
	for _, at := range []time.Time{end.Add(-lastUse), end} {
		if at.After(now) && at.Before(next) {
			return at
		}
	}
	return next
}

// Renews reports whether the mandate, while it is active, renews a name with that
// expiry.
func (m Mandate) Renews(expires time.Time) bool {
	return expires.Sub(m.Expires).Abs() <= mandateTolerance
}

// Purchase returns what a mandate buys: one year from the present expiry.
func (m Mandate) Purchase(r lifecycle.Registration) Purchase {
	return Purchase{Kind: PurchaseRenewal, Name: m.Name, Years: 1, From: r.Expires.UTC()}
}

// TooLow returns the message for a cap below the price.
func (m Mandate) TooLow(price deed.USDC) string {
	return fmt.Sprintf("a year costs %s USDC, and the mandate allows %s USDC: renew the name, or sign a new mandate", price, m.Auth.Amount)
}

// Change returns what is left of the amount of a payment by mandate after the price,
// which goes back to the payer once the purchase is delivered.
func (p Payment) Change() deed.USDC {
	if p.Source != SourceMandate || p.Purchase.Facts.Price <= 0 {
		return 0
	}
	return p.Auth.Amount - p.Purchase.Facts.Price
}

// Price returns what the purchase costs: the amount of the payment, except for a
// mandate, whose amount is a cap.
func (p Payment) Price() deed.USDC { return p.Auth.Amount - p.Change() }

// CapTooLow is the error of a mandate whose amount is below the price.
type CapTooLow struct{ Price deed.USDC }

func (e *CapTooLow) Error() string {
	return fmt.Sprintf("the mandate is below the price of %s USDC", e.Price)
}
