package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/registration"
)

// otherServers are what an owner may delegate a name to.
var otherServers = []string{"ns1.example.net", "ns2.example.net"}

// A moving is a code for which a name can be moved to another registrar, and who
// was told it.
type moving struct {
	who  deed.Wallet
	name deed.Name
	code string
}

// own is something that the owner of a name does with it, or somebody who is not
// its owner, or no longer. Who does something seldom does it alone.
func (w *world) own(p *process) {
	name, who := w.anyName(), w.buyers[w.rng.IntN(len(w.buyers))]
	if w.acting != "" {
		name = w.acting
	}
	before := w.acting
	defer func() { w.acting = before }()
	w.acting = name
	if r, err := w.registration(name); err == nil && w.rng.IntN(4) > 0 {
		who = r.Owner
	}
	kind, yes := w.rng.IntN(4), w.rng.IntN(2) == 0
	to := w.buyers[w.rng.IntN(len(w.buyers))]
	p.do(fmt.Sprintf("%s does something with %s: %d %t %s", who, name, kind, yes, to), func(ctx context.Context) {
		var err error
		switch kind {
		case 0:
			err = p.names.SetLock(ctx, who, name, yes)
		case 1:
			hosts := ourServers
			if yes {
				hosts = otherServers
			}
			err = p.names.Delegate(ctx, who, name, registration.Delegation{Hosts: hosts})
		case 2:
			var code deed.Secret
			if code, err = p.names.AuthCode(ctx, who, name); err == nil {
				w.codes = append(w.codes, moving{who: who, name: name, code: code.Reveal()})
			}
		case 3:
			err = p.names.HandOver(ctx, who, name, to)
		}
		w.dirty = true
		w.tell("%d: answer: %v", p.id, err)
	})
}

// handedOver notes who a registration was given to.
func (w *world) handedOver(r lifecycle.Registration) {
	w.given[r.Reference] = r.Owner
	w.ends["handed over"]++
}

// owner is who has a registration that was bought by payer.
func (w *world) owner(reference string, payer deed.Wallet) deed.Wallet {
	if to := w.given[reference]; to != "" {
		return to
	}
	return payer
}

// checkCodes says whose name somebody else can move to another registrar.
func (w *world) checkCodes() error {
	for _, m := range w.codes {
		r, err := w.registration(m.name)
		if err == nil && w.registry.ours(m.name) && w.registry.entries[m.name].AuthHash == m.code && r.Owner != m.who {
			return fmt.Errorf("%s belongs to %s, and %s has a code for it", m.name, r.Owner, m.who)
		}
	}
	return nil
}

// checkSame compares what owners may change, at the registry and in our books.
func checkSame(r lifecycle.Registration, e registry.Entry) error {
	if r.Locked != e.Locked || !slices.Equal(r.Nameservers, e.Nameservers) || !slices.Equal(r.DS, e.DS) {
		return fmt.Errorf("we say that %s is locked %v, at %v, with %v, the registry says %v, %v, %v", r.Name, r.Locked, r.Nameservers, r.DS, e.Locked, e.Nameservers, e.DS)
	}
	return nil
}

// change is what a manager of names does at once, when it answers.
func (r *registryModel) change(name deed.Name, f func(e registry.Entry, at time.Time) (registry.Entry, error)) error {
	if r.w.fault(12) {
		return errSilent
	}
	if !r.ours(name) {
		return deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	e, err := f(r.entries[name], r.now())
	if err == nil {
		r.entries[name] = e
	}
	return err
}

func (k manager) SetLock(_ context.Context, name deed.Name, locked bool) error {
	return act(k.p, "SetLock", func() error {
		return k.r.change(name, func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithLock(locked, at) })
	})
}

func (k manager) SetNameservers(_ context.Context, name deed.Name, hosts []string) error {
	return act(k.p, "SetNameservers", func() error {
		return k.r.change(name, func(e registry.Entry, at time.Time) (registry.Entry, error) {
			return e.WithNameservers(hosts, e.Glue, at)
		})
	})
}

func (k manager) SetDS(_ context.Context, name deed.Name, ds []dnssec.DS) error {
	return act(k.p, "SetDS", func() error {
		return k.r.change(name, func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithDS(ds, at) })
	})
}

func (k manager) AuthCode(_ context.Context, name deed.Name) (deed.Secret, error) {
	return call(k.p, "AuthCode", func() (deed.Secret, error) {
		k.r.codes++
		code := fmt.Sprintf("code %d", k.r.codes)
		return deed.Secret(code), k.r.change(name, func(e registry.Entry, at time.Time) (registry.Entry, error) { return e.WithAuthHash(code, at) })
	})
}
