package epp

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A plan is what is left to do for a renewal.
type plan struct {
	done    bool
	restore bool // first
	years   int  // to renew by
}

// planRenewal returns what is left to do for a renewal of a name in our account,
// given its state. It fails when the renewal is not possible in this state.
//
// The registry's date may be ahead of the owner's, by years that the registry added
// itself: those need not be ordered again, but are the owner's only when paid for.
func planRenewal(d domain, o registrar.Order, autoRenew bool) (plan, error) {
	want := o.From.AddDate(o.Years, 0, 0)
	refuse := func(format string) (plan, error) {
		return plan{}, deed.Errorf(deed.CodeRegistrationFailed, format, d.name)
	}
	switch {
	case d.has("pendingRenew"):
		return plan{}, fmt.Errorf("a renewal of %s is pending at the registry", d.name)
	case near(d.expires, want) && !d.ending():
		return plan{done: true}, nil
	case autoRenew && d.expires.After(want) && !d.ending():
		return plan{done: true}, nil
	case d.inRedemption() && o.Restore:
		return plan{restore: true}, nil
	case d.inRedemption():
		return refuse("%s is in redemption: only an order that restores it can renew it")
	case d.has("pendingDelete"):
		return refuse("%s is about to be deleted and can no longer be renewed")
	case d.has("pendingTransfer"):
		return refuse("%s is being transferred and cannot be renewed until then")
	case d.expires.Equal(o.From), autoRenew && near(d.expires, o.From): // then ours is computed
		return plan{years: o.Years}, nil
	}
	for years := 1; years < o.Years && (autoRenew || o.Restore); years++ {
		if near(d.expires, o.From.AddDate(years, 0, 0)) {
			return plan{years: o.Years - years}, nil
		}
	}
	return plan{}, deed.Invalid("from", "%s expires on %s, not on %s", d.name, d.expires.Format(time.RFC3339), o.From.Format(time.RFC3339))
}

// renewalStatus returns the state of a renewal of a name in our account.
func (b *Backend) renewalStatus(d domain, o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	if o.From.IsZero() {
		return absent, nil // it was never placed
	}
	want := o.From.AddDate(o.Years, 0, 0)
	p, _ := planRenewal(d, o, b.autoRenews(d)) // an error means that it is not done
	switch {
	case d.has("pendingRenew"):
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	case p.done && near(d.expires, want):
		return registrar.OrderStatus{State: registrar.OrderDone, Created: d.created, Expires: d.expires}, nil
	case p.done:
		return registrar.OrderStatus{State: registrar.OrderDone, Created: d.created, Expires: want}, nil
	case d.ending():
		return absent, nil
	case d.expires.Before(o.From.Add(-tolerance)) || d.expires.After(want):
		return absent, b.invalidReply("%s was to be renewed from %s to %s and expires on %s", d.name, o.From, want, d.expires)
	}
	return absent, nil
}

// renew renews a name, after it has restored it if the order says so.
func (b *Backend) renew(ctx context.Context, o registrar.Order) error {
	d, err := b.held(ctx, o.Name)
	if err != nil {
		return err
	}
	p, err := planRenewal(d, o, b.autoRenews(d))
	if err != nil || p.done {
		return err
	}
	restore := p.restore
	switch {
	case o.Restore && !restore && d.has("autoRenewPeriod") && !b.autoRenews(d): // otherwise an earlier attempt may have restored it
		return deed.Errorf(deed.CodeRegistrationFailed, "%s is not in redemption: renew it without restoring it", o.Name)
	case restore:
		fee, err := b.restoreFee(ctx, o)
		if err != nil {
			return err
		}
		if d, err = b.restored(ctx, o, d, fee); err != nil {
			return err
		}
		if p, err = planRenewal(d, o, b.autoRenews(d)); err != nil || p.done {
			return uncoded(err) // the restore was paid for: the state must become clear first
		}
	}
	left := o
	left.Years, left.Restore = p.years, false
	fee, err := b.premiumFee(ctx, left)
	switch {
	case err != nil && restore:
		return uncoded(err)
	case err != nil:
		return err
	}
	r, err := b.send(ctx, b.renewCommand(left, d.expiresDay, fee))
	if err != nil {
		return err
	}
	b.noteBalance(r)
	if !succeeded(r) {
		return b.afterRefusal(ctx, o, r)
	}
	if r.code() == codePending {
		return nil
	}
	return b.checkDates(r.Data.Renewed, o.Name, func(got domainDates) error {
		expires, err := optionalTime(got.Expires)
		if err == nil && !expires.IsZero() && !near(expires, d.expires.AddDate(p.years, 0, 0)) {
			err = fmt.Errorf("renewed from %s by %d years to %s", d.expires, p.years, expires)
		}
		return err
	})
}

func (b *Backend) renewCommand(o registrar.Order, expiresDay string, fee deed.USDC) command {
	return command{
		reference: o.Reference,
		body: func(w *writer, _ services) {
			w.element("renew", func() {
				w.object("domain", "renew", nsDomain, func() {
					w.text("domain:name", string(o.Name))
					w.text("domain:curExpDate", expiresDay)
					w.number("domain:period", o.Years, "unit", "y")
				})
			})
		},
		ext: func(w *writer, svc services) { b.writeFee(w, svc, "renew", fee) },
	}
}

// restored restores a name from redemption for this price, with a report where the registry
// wants one (RFC 3915), and returns its state then.
func (b *Backend) restored(ctx context.Context, o registrar.Order, before domain, fee deed.USDC) (domain, error) {
	m, err := b.services(ctx)
	if err != nil {
		return before, err
	}
	if !m.rgp() {
		return before, deed.Errorf(deed.CodeRegistrationFailed, "the registry of %s does not restore names over EPP", o.Name)
	}
	now := b.cfg.Now().UTC()
	if !before.has("pendingRestore") {
		r, err := b.send(ctx, b.restoreCommand(o, fee, nil))
		if err != nil {
			return before, err
		}
		if !succeeded(r) {
			return before, b.refused(r, string(o.Name), afterMoney)
		}
	}
	if b.cfg.Profile.RestoreReport || before.has("pendingRestore") {
		r, err := b.send(ctx, b.restoreCommand(o, 0, func(w *writer) { writeReport(w, before, now) }))
		if err != nil {
			return before, err
		}
		if !succeeded(r) {
			return before, uncoded(b.refused(r, string(o.Name), afterMoney))
		}
	}
	d, err := b.held(ctx, o.Name)
	if err != nil {
		return before, uncoded(err)
	}
	if d.inRedemption() {
		return before, b.invalidReply("%s was restored and is still in redemption", o.Name)
	}
	return d, nil
}

// restoreCommand returns the request to restore a name for a price, or the report of it.
func (b *Backend) restoreCommand(o registrar.Order, fee deed.USDC, report func(w *writer)) command {
	return command{
		reference: o.Reference,
		body: func(w *writer, _ services) {
			w.element("update", func() {
				w.object("domain", "update", nsDomain, func() {
					w.text("domain:name", string(o.Name))
					w.element("domain:chg", nil)
				})
			})
		},
		ext: func(w *writer, svc services) {
			w.object("rgp", "update", nsRGP, func() {
				if report == nil {
					w.element("rgp:restore", nil, "op", "request")
					return
				}
				w.element("rgp:restore", func() { report(w) }, "op", "report")
			})
			b.writeFee(w, svc, "update", fee)
		},
	}
}

// deletedAt returns when a name in redemption was deleted: nothing about it has changed since,
// unless the registry did not count that as a change. The expiry may be in the future, where
// the registry has renewed the name by itself.
func (d domain) deletedAt(now time.Time) time.Time {
	at := d.updated
	if d.expires.After(at) && d.expires.Before(now) {
		at = d.expires
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}

// writeReport writes a restore report. Nothing about the name changed while it was in
// redemption.
func writeReport(w *writer, d domain, now time.Time) {
	const timestamp = "2006-01-02T15:04:05.0Z"
	w.element("rgp:report", func() {
		w.text("rgp:preData", "Registration data before the deletion: as now.")
		w.text("rgp:postData", "Registration data after the restore: as before.")
		w.text("rgp:delTime", d.deletedAt(now).Format(timestamp))
		w.text("rgp:resTime", now.Format(timestamp))
		w.text("rgp:resReason", "The registrant renewed the name late.")
		w.text("rgp:statement", "This registrar has not restored the name in order to assume the rights to use or sell it for itself or for any third party.")
		w.text("rgp:statement", "The information in this report is true to the best of this registrar's knowledge.")
	})
}
