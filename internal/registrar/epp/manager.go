package epp

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// transferLock is the status that forbids a transfer to another registrar.
const transferLock = "clientTransferProhibited"

// Holding implements registrar.Manager. At a registry that renews by itself, the
// expiry is until when the owner has paid.
func (b *Backend) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	d, err := b.held(ctx, name)
	if err != nil {
		return lifecycle.Holding{}, fmt.Errorf("look up %s: %w", name, err)
	}
	return b.holding(ctx, name, d)
}

// holding returns the name, of which the registry has returned d.
func (b *Backend) holding(ctx context.Context, name deed.Name, d domain) (h lifecycle.Holding, err error) {
	if d.created.IsZero() || d.expires.IsZero() || !d.expires.After(d.created) {
		return lifecycle.Holding{}, b.invalidReply("%s is in our account and has no dates", name)
	}
	now := b.cfg.Now()
	h = lifecycle.Holding{
		Name: name, Created: d.created, Expires: d.expires, Phase: d.phase(now), EPPStatus: d.statuses,
		Locked: d.has(transferLock), Nameservers: d.hosts, DS: d.ds, ROID: d.roid,
	}
	if h.Glue, err = b.glue(ctx, d); err != nil {
		return lifecycle.Holding{}, fmt.Errorf("look up %s: %w", name, err)
	}
	if !b.autoRenews(d) || b.cfg.PaidUntil == nil {
		return h, nil
	}
	paid, err := b.cfg.PaidUntil(ctx, name)
	if err != nil {
		return lifecycle.Holding{}, fmt.Errorf("until when %s is paid: %w", name, err)
	}
	return ownedUntil(h, paid, now), nil
}

// autoRenews reports whether the registry renews the name by itself: it is known to,
// or shows that it just did.
func (b *Backend) autoRenews(d domain) bool {
	if b.cfg.Profile.AutoRenew {
		return true
	}
	if !d.has("autoRenewPeriod") || !d.expires.After(b.cfg.Now()) {
		return false
	}
	b.logOnce("auto_renew", "the registry renews names by itself: set auto_renew for this registrar", "domain", d.name)
	return true
}

// ownedUntil returns what the registry holds as the owner has it: the years that the
// registry added by itself are not the owner's until they are paid for.
func ownedUntil(h lifecycle.Holding, paid, now time.Time) lifecycle.Holding {
	if paid.IsZero() {
		return h
	}
	h.Unpaid = h.Expires.After(paid.Add(tolerance))
	if h.Unpaid || near(h.Expires, paid) { // then ours is computed
		h.Expires = paid
	}
	switch {
	case h.Phase != lifecycle.PhaseActive && h.Phase != lifecycle.PhaseGrace:
	case now.Before(h.Expires):
		h.Phase = lifecycle.PhaseActive
	default:
		h.Phase = lifecycle.PhaseGrace
	}
	return h
}

// SetNameservers implements registrar.Manager.
func (b *Backend) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	hosts, err := deed.ParseNameservers(hosts)
	if err != nil {
		return err
	}
	created := false
	return b.change(ctx, name, func(d domain) (update, error) {
		u := update{addHosts: without(hosts, d.hosts), remHosts: without(d.hosts, hosts)}
		if created {
			return u, nil
		}
		created = true
		return u, b.ensureHosts(ctx, u.addHosts)
	})
}

// SetLock implements registrar.Manager.
func (b *Backend) SetLock(ctx context.Context, name deed.Name, locked bool) error {
	return b.change(ctx, name, func(d domain) (u update, _ error) {
		if locked && d.has("pendingTransfer") {
			return u, deed.Invalid("locked", "a transfer of %s is pending, so it cannot be locked", name)
		}
		if locked && !d.has(transferLock) {
			u.addStatus = []string{transferLock}
		}
		if !locked && d.has(transferLock) {
			u.remStatus = []string{transferLock}
		}
		return u, nil
	})
}

// SetDS implements registrar.Manager.
func (b *Backend) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	ds, err := dnssec.ParseDS(ds)
	if err != nil {
		return err
	}
	m, err := b.services(ctx)
	if err != nil {
		return err
	}
	if !m.dnssec() && len(ds) > 0 {
		return deed.Invalid("ds", "the registry of %s does not support DNSSEC", name)
	}
	return b.change(ctx, name, func(d domain) (update, error) {
		switch {
		case len(ds) == 0:
			return update{noDS: len(d.ds) > 0}, nil
		case d.keys > 0 && !dnssec.SameDS(d.ds, ds): // keys cannot be removed by their DS
			return update{noDS: true, addDS: ds}, nil
		}
		return update{addDS: without(ds, d.ds), remDS: without(d.ds, ds)}, nil
	})
}

// Delete implements registrar.Deleter. Hosts below the name are deleted first where
// the registry demands it.
func (b *Backend) Delete(ctx context.Context, name deed.Name) error {
	r, err := b.send(ctx, deleteCommand(name))
	if err == nil && r.code() == codeAssociation {
		if err = b.releaseHosts(ctx, name); err == nil {
			r, err = b.send(ctx, deleteCommand(name))
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("delete %s: %w", name, err)
	case r.code() == codeNotFound:
		return notInAccount(name)
	case !succeeded(r):
		return b.refused(r, string(name), beforeMoney)
	}
	return nil
}

func deleteCommand(name deed.Name) command {
	return command{body: func(w *writer, _ services) {
		w.element("delete", func() {
			w.object("domain", "delete", nsDomain, func() { w.text("domain:name", string(name)) })
		})
	}}
}
