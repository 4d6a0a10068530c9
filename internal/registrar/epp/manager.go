package epp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	b.logOnce("auto_renew", "the registry renews names by itself: set auto_renew for this registrar", "name", d.name)
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

// An update is a change of a name.
type update struct {
	addHosts, remHosts   []string
	glue                 lifecycle.Glue // of addHosts that are attributes
	addStatus, remStatus []string
	addDS, remDS         []dnssec.DS
	noDS                 bool   // remove all, and keys that the registry has instead
	registrant           string // identifier of another contact
	code                 deed.Secret
}

func (u update) empty() bool {
	return len(u.addHosts)+len(u.remHosts)+len(u.addStatus)+len(u.remStatus)+len(u.addDS)+len(u.remDS) == 0 && u.code == "" && u.registrant == "" && !u.noDS
}

// change changes a name in the account. needed returns what is left to change in a
// state; after a refusal it decides again, because a registry may have made the
// change nevertheless.
func (b *Backend) change(ctx context.Context, name deed.Name, needed func(domain) (update, error)) error {
	var last error
	for range 2 {
		d, err := b.held(ctx, name)
		if err != nil {
			return fmt.Errorf("change %s: %w", name, err)
		}
		if d.ending() {
			return deed.Invalid("domain", "%s is in redemption or about to be deleted: restore it first", name)
		}
		u, err := needed(d)
		if err != nil || u.empty() {
			return err
		}
		if last != nil {
			return last
		}
		if d.has("pendingUpdate") { // another one would be refused
			return errPendingUpdate(name)
		}
		r, err := b.send(ctx, b.updateCommand(name, u))
		switch {
		case err != nil:
			return fmt.Errorf("change %s: %w", name, err)
		case r.code() == codeOK:
			return nil
		case r.code() == codePending:
			return b.checkPending(ctx, name, needed)
		}
		if last = b.refused(r, string(name), beforeMoney); r.code() == codeNotFound && len(u.addHosts) > 0 {
			last = b.forgetObjects(name, u.addHosts)
		}
	}
	return last
}

func errPendingUpdate(name deed.Name) error {
	return fmt.Errorf("change %s: the registry has not decided about the change yet", name)
}

// checkPending fails without a code unless a change that the registry calls pending was made
// nevertheless. A code may not be shown.
func (b *Backend) checkPending(ctx context.Context, name deed.Name, needed func(domain) (update, error)) error {
	d, err := b.held(ctx, name)
	if err != nil {
		return fmt.Errorf("change %s: %w", name, uncoded(err))
	}
	left, err := needed(d)
	if d.authInfo == "" {
		left.code = ""
	}
	if err == nil && (d.has("pendingUpdate") || !left.empty()) {
		err = errPendingUpdate(name)
	}
	return err
}

func (b *Backend) updateCommand(name deed.Name, u update) command {
	return command{
		body: func(w *writer, svc services) {
			w.element("update", func() {
				w.object("domain", "update", nsDomain, func() {
					w.text("domain:name", string(name))
					b.writePart(w, svc, "domain:add", u)
					b.writePart(w, svc, "domain:rem", update{addHosts: u.remHosts, addStatus: u.remStatus})
					if u.code != "" || u.registrant != "" {
						w.element("domain:chg", func() {
							if u.registrant != "" {
								w.text("domain:registrant", u.registrant)
							}
							writeCode(w, u.code)
						})
					}
				})
			})
		},
		ext: func(w *writer, svc services) {
			if len(u.addDS)+len(u.remDS) == 0 && !u.noDS || !svc.dnssec() {
				return
			}
			w.object("secDNS", "update", nsSecDNS, func() {
				if u.noDS {
					w.element("secDNS:rem", func() { w.text("secDNS:all", "true") })
				}
				writeDS(w, "secDNS:rem", u.remDS)
				writeDS(w, "secDNS:add", u.addDS)
			})
		},
	}
}

// writePart writes what an update adds as the content of the element.
func (b *Backend) writePart(w *writer, svc services, element string, u update) {
	if len(u.addHosts)+len(u.addStatus) == 0 {
		return
	}
	w.element(element, func() {
		if len(u.addHosts) > 0 {
			w.element("domain:ns", func() { b.writeHosts(w, svc, u.addHosts, u.glue) })
		}
		for _, s := range u.addStatus {
			w.element("domain:status", nil, "s", s)
		}
	})
}

func writeDS(w *writer, element string, all []dnssec.DS) {
	if len(all) == 0 {
		return
	}
	w.element(element, func() {
		for _, ds := range all {
			w.element("secDNS:dsData", func() {
				w.text("secDNS:keyTag", strconv.Itoa(int(ds.KeyTag)))
				w.number("secDNS:alg", int(ds.Algorithm))
				w.number("secDNS:digestType", int(ds.DigestType))
				w.text("secDNS:digest", ds.Digest)
			})
		}
	})
}

// without returns the elements of a that are not in b.
func without[T comparable](a, b []T) (out []T) {
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
