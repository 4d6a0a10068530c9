package local

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
)

// Delegated lists the delegated names of a registry's TLDs.
type Delegated interface {
	// Delegated returns up to limit names that have name servers at the time at, sorted.
	Delegated(ctx context.Context, at time.Time, limit int) ([]registry.Entry, error)
}

// MaxDelegated is the largest number of delegated names whose parent zones are served: a
// zone is held in memory, and every change rebuilds it.
const MaxDelegated = 50_000

// Parents publishes the zones of the registry's TLDs, with the delegations of all
// its names, so that names of a sandbox resolve and validate from their parent
// down. A parent zone is rebuilt when one of its delegations has changed, and when
// its signatures are due for renewal. With more than MaxDelegated names the zones stay as
// they are. Set the exported fields.
type Parents struct {
	Names      Delegated
	Server     dnssec.Publisher
	Publishing dnssec.Publishing
	Now        func() time.Time // the registry's clock, by which signatures are renewed
	Clock      func() time.Time // for serials, and the begin of signatures

	prints map[deed.TLD]uint64 // hashes of the delegations in the zone last published
	last   map[deed.TLD]dnssec.ServedZone
}

// ErrTooMany is returned when there are more than MaxDelegated names.
var ErrTooMany = fmt.Errorf("the sandbox has more than %d delegated names: their TLDs are not updated any more", MaxDelegated)

// Publish rebuilds and publishes the zones that have changed. It fails with ErrTooMany. It
// is not safe for concurrent use.
func (p *Parents) Publish(ctx context.Context) error {
	entries, err := p.Names.Delegated(ctx, p.Now(), MaxDelegated+1)
	if err != nil {
		return fmt.Errorf("read the registry's delegations: %w", err)
	}
	if len(entries) > MaxDelegated {
		return ErrTooMany
	}
	children := map[deed.TLD][]registry.Entry{}
	for _, e := range entries {
		children[e.Name.TLD()] = append(children[e.Name.TLD()], e)
	}
	for tld := range p.prints {
		if _, there := children[tld]; !there {
			children[tld] = nil
		}
	}
	if p.prints == nil {
		p.prints, p.last = map[deed.TLD]uint64{}, map[deed.TLD]dnssec.ServedZone{}
	}
	for tld, names := range children {
		if err := p.refresh(ctx, tld, names); err != nil {
			return fmt.Errorf("serve the parent %s: %w", tld, err)
		}
	}
	return nil
}

func (p *Parents) refresh(ctx context.Context, tld deed.TLD, names []registry.Entry) error {
	h := fnv.New64a()
	for _, e := range names {
		fmt.Fprintln(h, e.Name, e.Nameservers, e.Glue, e.DS)
	}
	now := p.Clock()
	old := p.last[tld]
	if p.prints[tld] == h.Sum64() && old.Serial != 0 && p.Now().Before(old.RenewAt()) {
		return nil
	}
	next, err := p.compose(tld, names, max(old.Serial+1, uint32(now.Unix())))
	if err != nil {
		return err
	}
	master := p.Publishing.Master
	if n := len(p.Publishing.Earlier); n > 0 {
		master = p.Publishing.Earlier[n-1] // resolvers are configured with the key, which must not change
	}
	key, err := dnssec.DeriveKey(master, string(tld), 1)
	if err != nil {
		return err
	}
	if next, err = dnssec.Sign(old, next, dnssec.Signing{Keys: []dnssec.Key{key}, Now: p.Now(), Since: now}); err != nil {
		return err
	}
	if err := p.Server.Publish(ctx, next); err != nil {
		return err
	}
	p.prints[tld], p.last[tld] = h.Sum64(), next
	return nil
}

func (p *Parents) compose(tld deed.TLD, names []registry.Entry, serial uint32) (dnssec.ServedZone, error) {
	c := dnssec.Composition{Origin: string(tld), Serial: serial, SOA: p.Publishing.SOA, Servers: p.Publishing.Servers}
	for _, e := range names {
		d := dnssec.Delegation{Name: e.Name, DS: e.DS}
		for _, host := range e.Nameservers {
			addrs := e.Glue.Of(host)
			if lifecycle.Below(host, e.Name) && len(addrs) == 0 {
				continue // it was delegated before glue existed: nobody could find it
			}
			d.Nameservers = append(d.Nameservers, dnssec.Nameserver{Host: host, Addresses: addrs})
		}
		if len(d.Nameservers) == 0 {
			continue
		}
		rrs, err := d.RRs()
		if err != nil {
			return dnssec.ServedZone{}, err
		}
		c.RRs = append(c.RRs, rrs...)
	}
	return dnssec.Compose(c)
}
