package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// expirySlack is how much the expiry after a renewal may differ from the one that is
// expected: registries treat the 29th of February differently.
const expirySlack = 48 * time.Hour

// restoredLately is how long after a restore its renewal can still be ordered.
const restoredLately = time.Hour

// A renewRequest renews a name. The expiry guards against a second renewal.
type renewRequest struct {
	Period        period `json:"period"`
	Expiry        string `json:"current_expiry_date"`
	ExpectedPrice string `json:"expected_price,omitempty"`
}

// A restoreRequest restores a name from redemption.
type restoreRequest struct {
	Reason        string `json:"reason"`
	ExpectedPrice string `json:"expected_price,omitempty"`
}

// until returns the expiry after the renewal.
func until(o registrar.Order) time.Time { return o.From.UTC().AddDate(o.Years, 0, 0) }

// renewed reports whether the name has the years of the renewal.
func renewed(d domain, o registrar.Order) bool {
	return o.Years > 0 && !o.From.IsZero() && !d.ending() && !d.has("pendingRestore") && !d.expires.Before(until(o).Add(-expirySlack)) && !d.expires.IsZero()
}

// renewalStatus returns the state of a renewal. A later renewal does not change it.
func renewalStatus(d domain, o registrar.Order) registrar.OrderStatus {
	switch {
	case renewed(d, o):
		s := registrar.OrderStatus{State: registrar.OrderDone, Created: d.start(), Expires: d.expires}
		if target := until(o); d.expires.After(target.Add(expirySlack)) {
			s.Expires = target
		}
		return s
	case d.has("pendingRenew"), d.has("pendingRestore"):
		return registrar.OrderStatus{State: registrar.OrderPending}
	}
	return registrar.OrderStatus{State: registrar.OrderAbsent}
}

// renew renews a name, and restores it before if the order says so.
func (b *Backend) renew(ctx context.Context, o registrar.Order) error {
	d, err := b.domain(ctx, orderLane, o.Name)
	if err != nil || renewed(d, o) {
		return err
	}
	if err := b.renewable(d, o); err != nil {
		return err
	}
	if d.phase(b.config.Now()) == lifecycle.PhaseRedemption {
		if d, err = b.restore(ctx, d, o); err != nil || renewed(d, o) {
			return err
		}
	}
	n := missingYears(d, o)
	in := renewRequest{Period: years(n), Expiry: d.expiresExact.Format(time.RFC3339Nano)}
	if in.ExpectedPrice, err = b.confirmed(ctx, d, o, func(p premium) deed.USDC { return times(p.renew, n) }); err != nil {
		return err
	}
	var reply struct {
		Name   string `json:"name"`
		Expiry string `json:"new_expiry_date"`
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: domainPath(o.Name) + "/renew", in: in}, &reply)
	if err != nil {
		return b.notRenewed(ctx, o, err)
	}
	if name, err := deed.ParseName(reply.Name); err != nil || name != o.Name {
		return fmt.Errorf("renew %s: the reply is about %s", o.Name, deed.Quoted(reply.Name))
	}
	return nil
}

// renewable fails when the registry cannot renew the name now, or from this expiry.
func (b *Backend) renewable(d domain, o registrar.Order) error {
	refuse := func(why string) error { return deed.Errorf(deed.CodeRegistrationFailed, "%s %s", o.Name, why) }
	now := b.config.Now()
	phase := d.phase(now)
	switch {
	case o.Years < 1 || o.Years > maxYears:
		return refuse(fmt.Sprintf("is renewed for 1 to %d years at once, not for %d", maxYears, o.Years))
	case d.expires.IsZero():
		return fmt.Errorf("renew %s: the vendor does not say when it expires", o.Name)
	case d.has("pendingTransfer"):
		return refuse("is being transferred and cannot be renewed until then")
	case phase == lifecycle.PhasePendingDelete:
		return refuse("is about to be deleted and can no longer be renewed")
	case phase == lifecycle.PhaseRedemption && !o.Restore:
		return refuse("is in redemption: only an order that restores it can renew it")
	case phase != lifecycle.PhaseRedemption && o.Restore && !b.restored(d, now):
		return refuse("is not in redemption: renew it without restoring it")
	case missingYears(d, o) == 0:
		return deed.Invalid("from", "%s expires on %s, not on %s", o.Name, d.expires.Format(time.RFC3339), o.From.UTC().Format(time.RFC3339))
	}
	return nil
}

// missingYears returns how many years of the renewal the name does not have yet; 0 if
// the renewal does not start at its expiry. A restore may have renewed it already, by
// a part of the years.
func missingYears(d domain, o registrar.Order) int {
	if d.expires.Equal(o.From.Truncate(time.Second)) {
		return o.Years
	}
	for n := 1; n < o.Years && o.Restore && !o.From.IsZero(); n++ {
		if d.expires.Sub(o.From.AddDate(n, 0, 0)).Abs() < expirySlack {
			return o.Years - n
		}
	}
	return 0
}

// restored reports whether the name was restored lately, by an attempt that ended
// before it could renew the name.
func (b *Backend) restored(d domain, now time.Time) bool {
	return d.updated.After(now.Add(-restoredLately - b.config.ClockSkew))
}

// restore restores the name and returns it as it is then.
func (b *Backend) restore(ctx context.Context, d domain, o registrar.Order) (domain, error) {
	in := restoreRequest{Reason: "the registrant has renewed the name"}
	var err error
	if in.ExpectedPrice, err = b.confirmed(ctx, d, o, func(p premium) deed.USDC { return p.restore }); err != nil {
		return d, err
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: domainPath(o.Name) + "/restore", in: in}, nil)
	if err != nil {
		return d, b.notRenewed(ctx, o, err)
	}
	if d, err = b.domain(ctx, orderLane, o.Name); err != nil {
		return d, fmt.Errorf("restored %s: %w", o.Name, noCode(err))
	}
	switch {
	case d.ending() || d.has("pendingRestore"):
		return d, fmt.Errorf("restore %s: the registry has not restored it yet", o.Name)
	case !renewed(d, o) && missingYears(d, o) == 0:
		return d, fmt.Errorf("restore %s: it expires on %s now, and is not renewed", o.Name, d.expires.Format(time.RFC3339))
	}
	return d, nil
}

// confirmed returns the price that is confirmed with a part of an order for a premium
// name. It fails when the buyer was not told one: then it may be any.
func (b *Backend) confirmed(ctx context.Context, d domain, o registrar.Order, price func(premium) deed.USDC) (string, error) {
	if !d.premium {
		return "", nil
	}
	p, ok, err := b.agreedPremium(ctx, o)
	if err != nil {
		return "", err
	}
	if !ok || price(p) == 0 {
		return "", deed.Errorf(deed.CodeRegistrationFailed, "%s has a price of its own, which was not agreed on", d.name)
	}
	if price(p) > o.MaxCost {
		return "", deed.Errorf(deed.CodeRegistrationFailed, "%s costs %s by now, which is more than was agreed on", d.name, price(p))
	}
	text, err := formatPrice(price(p))
	if err != nil {
		return "", deed.Errorf(deed.CodeRegistrationFailed, "%s: %v", d.name, err)
	}
	return text, nil
}

// notRenewed returns the outcome of a renewal that ended with an error.
func (b *Backend) notRenewed(ctx context.Context, o registrar.Order, err error) error {
	p := refusal(err)
	if p == nil {
		return b.unknown("renew "+string(o.Name), err)
	}
	d, lookupErr := b.domain(ctx, orderLane, o.Name)
	switch {
	case lookupErr != nil:
		return lookupErr
	case renewed(d, o):
		return nil
	case p.is(codeDomainNotFound):
		return notInAccount(o.Name)
	case !d.expires.Equal(o.From.Truncate(time.Second)):
		return deed.Invalid("from", "%s expires on %s by now", o.Name, d.expires.Format(time.RFC3339))
	}
	return refused(o, p)
}
