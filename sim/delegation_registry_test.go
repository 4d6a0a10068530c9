package sim

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
)

// fails is how a registry fails: silently.
func (d *delegations) fails(once int) bool { return d.faulty && d.rng.IntN(once) == 0 }

// ask makes a call of the registry, which may fail before or after it is done; the caller may
// die, too.
func (d *delegations) ask(method, what string, f func()) error {
	d.others()
	var next fate
	if left := d.script[method]; len(left) > 0 {
		next, d.script[method] = left[0], left[1:]
	}
	if next.before != nil {
		next.before()
	}
	switch {
	case next.notDone:
		return errSilent
	case next.refused:
		return deed.Invalid("domain", "is locked at the registry")
	case d.fails(12):
		d.tell("%s is not done", what)
		return errSilent
	case d.fails(15) && method != "Holding":
		d.tell("%s is refused", what)
		return deed.Invalid("domain", "is locked or busy at the registry")
	case d.fails(80):
		panic(death{})
	}
	f()
	d.tell("%s", what)
	d.check()
	d.others()
	switch {
	case next.lost:
		return errSilent
	case next.dies:
		panic(death{})
	case d.fails(12):
		d.tell("%s: the answer is lost", what)
		return errSilent
	case d.fails(60):
		panic(death{})
	}
	return nil
}

// Holding implements registrar.Manager.
func (d *delegations) Holding(context.Context, deed.Name) (h lifecycle.Holding, err error) {
	if d.life != nil {
		return d.life.holding()
	}
	err = d.ask("Holding", "it is looked up", func() {
		h = lifecycle.Holding{
			Name: signedName, Reference: signedOrder, Created: time.Unix(1_800_000_000, 0), Expires: time.Unix(1_800_000_000, 0).AddDate(9, 0, 0),
			EPPStatus: []string{"ok"}, Locked: d.locked, Nameservers: d.hosts.last().hosts, DS: d.parent.last().ds,
		}
	})
	return h, err
}

// SetNameservers implements registrar.Manager.
func (d *delegations) SetNameservers(_ context.Context, _ deed.Name, hosts []string) error {
	if d.life != nil {
		return d.life.change("SetNameservers", "the registry sets the servers "+placeOf(hosts), func(e registry.Entry, at time.Time) (registry.Entry, error) {
			return e.WithNameservers(hosts, nil, at)
		})
	}
	return d.ask("SetNameservers", "the registry sets the servers "+placeOf(hosts), func() { d.hosts = append(d.hosts, published{at: d.now, hosts: hosts}) })
}

// SetDS implements registrar.Manager.
func (d *delegations) SetDS(_ context.Context, _ deed.Name, ds []dnssec.DS) error {
	if d.life != nil {
		return d.life.change("SetDS", fmt.Sprintf("the registry sets the DS %v", ds), func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithDS(ds, at) })
	}
	return d.ask("SetDS", fmt.Sprintf("the registry sets the DS %v", ds), func() { d.parent = append(d.parent, published{at: d.now, ds: ds}) })
}

// SetLock implements registrar.Manager.
func (d *delegations) SetLock(_ context.Context, _ deed.Name, locked bool) error {
	if d.life != nil {
		return d.life.change("SetLock", fmt.Sprintf("locked: %t", locked), func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithLock(locked, at) })
	}
	return d.ask("SetLock", "it is locked", func() { d.locked = locked })
}

// AuthCode implements registrar.Manager.
func (d *delegations) AuthCode(context.Context, deed.Name) (deed.Secret, error) {
	if d.life != nil {
		return code, d.life.change("AuthCode", "it has a new code", func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithAuthHash(code, at) })
	}
	return "secret", d.ask("AuthCode", "it has a new code", func() {})
}
