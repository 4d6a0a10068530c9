package epp

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

type hostInfo struct {
	Name  string   `xml:"name"`
	Addrs []string `xml:"addr"`
	ClID  string   `xml:"clID"`
}

// hostObjects reports whether the registry has hosts as objects of their own.
func (b *Backend) hostObjects(svc services) bool { return svc.host() && !b.cfg.Profile.HostAttributes }

// hostName returns the canonical form of a host name in a reply.
func hostName(text string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
}

// writeHosts writes the name servers of a name. An attribute has its addresses.
func (b *Backend) writeHosts(w *writer, svc services, hosts []string, glue lifecycle.Glue) {
	for _, host := range hosts {
		if b.hostObjects(svc) {
			w.text("domain:hostObj", host)
			continue
		}
		w.element("domain:hostAttr", func() {
			w.text("domain:hostName", host)
			for _, a := range glue.Of(host) {
				w.text("domain:hostAddr", a.Unmap().String(), "ip", ipVersion(a))
			}
		})
	}
}

func ipVersion(a netip.Addr) string {
	if a.Unmap().Is4() {
		return "v4"
	}
	return "v6"
}

// ensureHosts creates the hosts that the registry does not have yet. It fails with
// CodeValidation when the registry does not accept one.
func (b *Backend) ensureHosts(ctx context.Context, hosts []string) error {
	m, err := b.services(ctx)
	if err != nil || !b.hostObjects(m) {
		return err
	}
	for _, host := range hosts {
		b.mu.Lock()
		known := b.hosts[host]
		b.mu.Unlock()
		if known {
			continue
		}
		r, err := b.send(ctx, hostCommand("create", host, nil, nil))
		switch {
		case err != nil:
			return fmt.Errorf("create host %s: %w", host, err)
		case unknown(r.code()) && !succeeded(r):
			return fmt.Errorf("create host %s: %w", host, resultError(r))
		case !succeeded(r) && r.code() != codeExists:
			b.logOnce("host "+host, "the registry does not accept a name server", "host", host, "result", resultError(r).Error())
			return &deed.Error{Code: deed.CodeValidation, Message: fmt.Sprintf("the registry does not accept %s as a name server: below a name that it has, a host needs its addresses first", host), Err: resultError(r)}
		}
		b.knowHost(host, true)
	}
	return nil
}

// maxKnownHosts bounds what is remembered of hosts.
const maxKnownHosts = 10_000

func (b *Backend) knowHost(host string, exists bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hosts == nil || len(b.hosts) >= maxKnownHosts {
		b.hosts = map[string]bool{}
	}
	b.hosts[host] = exists
}

// forgetObjects is called when a host or a contact that a name needs is missing: the
// registry has deleted it since. It is created again with the next attempt.
func (b *Backend) forgetObjects(name deed.Name, hosts []string) error {
	for _, host := range hosts {
		b.knowHost(host, false)
	}
	b.mu.Lock()
	b.contact = false
	b.mu.Unlock()
	return fmt.Errorf("%s: the registry no longer has a host or a contact: try again", name)
}

// SetHost implements registrar.HostManager.
func (b *Backend) SetHost(ctx context.Context, host string, addrs []netip.Addr) error {
	host, err := deed.ParseHost(host)
	if err != nil {
		return err
	}
	m, err := b.services(ctx)
	if err != nil {
		return err
	}
	if !b.hostObjects(m) {
		return deed.Invalid("host", "this registry has no hosts of their own")
	}
	have, err := b.hostInfo(ctx, host)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return b.hostChange(ctx, host, hostCommand("create", host, addrs, nil))
	}
	if err != nil {
		return err
	}
	add, rem := without(addrs, have), without(have, addrs)
	if len(add)+len(rem) == 0 {
		return nil
	}
	return b.hostChange(ctx, host, hostCommand("update", host, add, rem))
}

// DeleteHost implements registrar.HostManager.
func (b *Backend) DeleteHost(ctx context.Context, host string) error {
	host, err := deed.ParseHost(host)
	if err != nil {
		return err
	}
	b.knowHost(host, false)
	return b.hostChange(ctx, host, hostCommand("delete", host, nil, nil))
}

func (b *Backend) hostChange(ctx context.Context, host string, c command) error {
	r, err := b.send(ctx, c)
	if err != nil {
		return fmt.Errorf("change host %s: %w", host, err)
	}
	if !succeeded(r) {
		return b.refused(r, host, beforeMoney)
	}
	return nil
}

// hostInfo returns the addresses of a host.
func (b *Backend) hostInfo(ctx context.Context, host string) ([]netip.Addr, error) {
	r, err := b.send(ctx, hostCommand("info", host, nil, nil))
	switch {
	case err != nil:
		return nil, fmt.Errorf("look up host %s: %w", host, err)
	case r.code() != codeOK:
		return nil, b.refused(r, host, beforeMoney)
	case len(r.Data.Hosts) != 1 || hostName(r.Data.Hosts[0].Name) != host:
		return nil, b.invalidReply("info of host %s is about something else", host)
	}
	var addrs []netip.Addr
	for _, text := range r.Data.Hosts[0].Addrs {
		a, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return nil, b.invalidReply("host %s: %w", host, err)
		}
		addrs = append(addrs, a)
	}
	return addrs, nil
}

// hostCommand returns a command for a host; create has addresses to add, update may
// have both.
func hostCommand(verb, host string, add, rem []netip.Addr) command {
	addrs := func(w *writer, all []netip.Addr) {
		for _, a := range all {
			w.text("host:addr", a.Unmap().String(), "ip", ipVersion(a))
		}
	}
	return command{body: func(w *writer, _ services) {
		w.element(verb, func() {
			w.object("host", verb, nsHost, func() {
				w.text("host:name", host)
				if verb == "create" {
					addrs(w, add)
					return
				}
				for _, part := range []struct {
					element string
					addrs   []netip.Addr
				}{{"host:add", add}, {"host:rem", rem}} {
					if len(part.addrs) > 0 {
						w.element(part.element, func() { addrs(w, slices.Clone(part.addrs)) })
					}
				}
			})
		})
	}}
}
