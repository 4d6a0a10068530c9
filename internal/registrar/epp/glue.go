package epp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// hostAttr is a name server that is an attribute of a name (RFC 5731, 1.1).
type hostAttr struct {
	Name  string   `xml:"hostName"`
	Addrs []string `xml:"hostAddr"`
}

// addresses returns the addresses that can be read, sorted.
func (h hostAttr) addresses() (addrs []netip.Addr) {
	for _, text := range h.Addrs {
		if a, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
			addrs = append(addrs, a.Unmap())
		}
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs
}

// maxGlueHosts bounds the hosts of a name that are looked up.
const maxGlueHosts = 13

// glue returns the addresses of the name servers below the name. A host that the
// registry does not show us has none.
func (b *Backend) glue(ctx context.Context, d domain) (lifecycle.Glue, error) {
	m, err := b.services(ctx)
	if err != nil || !b.hostObjects(m) {
		return d.glue, err
	}
	var g lifecycle.Glue
	for _, host := range d.hosts[:min(len(d.hosts), maxGlueHosts)] {
		if !lifecycle.Below(host, d.name) {
			continue
		}
		addrs, err := b.hostInfo(ctx, host)
		switch {
		case err == nil && len(addrs) > 0:
			g = append(g, dnssec.Nameserver{Host: host, Addresses: addrs})
		case err != nil && deed.CodeOf(err) == deed.CodeUnavailable:
			return nil, err
		}
	}
	return g, nil
}

// SetDelegation implements registrar.GlueManager.
func (b *Backend) SetDelegation(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error {
	m, err := b.services(ctx)
	if err != nil {
		return err
	}
	if b.hostObjects(m) {
		return registrar.HostGlue{Manager: b}.SetDelegation(ctx, name, hosts, glue)
	}
	if hosts, err = deed.ParseNameservers(hosts); err != nil {
		return err
	}
	for _, host := range hosts {
		if lifecycle.Below(host, name) && len(glue.Of(host)) == 0 {
			return deed.Invalid("nameservers", "%s is below %s and needs its addresses", host, name)
		}
	}
	return b.changeAttributes(ctx, name, hosts, glue)
}

// changeAttributes changes name servers that are attributes. A registry may add before
// it removes, or the other way round, which matters for a host that is in both lists:
// so the state counts, and what is missing is sent again.
func (b *Backend) changeAttributes(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error {
	for range 3 {
		done := false
		err := b.change(ctx, name, func(d domain) (update, error) {
			u := update{addHosts: without(hosts, d.hosts), remHosts: without(d.hosts, hosts), glue: glue}
			for _, host := range hosts {
				if slices.Contains(d.hosts, host) && lifecycle.Below(host, name) && !slices.Equal(glue.Of(host), d.glue.Of(host)) {
					u.addHosts, u.remHosts = append(u.addHosts, host), append(u.remHosts, host)
				}
			}
			done = u.empty()
			return u, nil
		})
		if err != nil || done {
			return err
		}
	}
	return b.invalidReply("%s does not get the addresses of its name servers", name)
}

// releaseHosts deletes the hosts below a name, so that the name can be deleted (RFC
// 5731, 3.2.2). It fails with CodeValidation when another name uses one.
func (b *Backend) releaseHosts(ctx context.Context, name deed.Name) error {
	d, err := b.infoWith(ctx, name, "", "all")
	if err != nil {
		return err
	}
	var used []string
	for _, host := range d.hosts {
		if lifecycle.Below(host, name) {
			used = append(used, host)
		}
	}
	if len(used) > 0 {
		r, err := b.send(ctx, b.updateCommand(name, update{remHosts: used}))
		if err != nil {
			return err
		}
		if !succeeded(r) {
			return b.refused(r, string(name), beforeMoney)
		}
	}
	for _, host := range append(without(d.below, used), used...) {
		err := b.DeleteHost(ctx, host)
		if deed.CodeOf(err) == deed.CodeValidation {
			b.logOnce("host "+host, "a name cannot be deleted, because other names use a host below it", "domain", name, "host", host)
			return deed.Invalid("domain", "%s cannot be deleted while other names use the name server %s", name, host)
		}
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			return fmt.Errorf("delete host %s: %w", host, err)
		}
	}
	return nil
}
