package redirect

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// Clients limits what one client may cause in a minute.
type Clients struct {
	Counter deed.Counter   // of this process; nil: there are no limits
	Trusted []netip.Prefix // of proxies, which have no limit: many clients share their addresses
}

// admit counts a call, and fails with CodeRateLimited if its client has made too many. A
// count that is not known is no refusal.
func (c Clients) admit(ctx context.Context, what, from string, limit int) error {
	addr := parseAddr(from)
	if c.Counter == nil || c.trusts(addr) {
		return nil
	}
	n, _, err := c.Counter.Count(ctx, what+":"+ratelimit.AddressKey(addr), time.Minute)
	if err == nil && n > limit {
		return deed.Errorf(deed.CodeRateLimited, "more than %d %s in a minute from one address: wait a minute", limit, what)
	}
	return nil
}

func (c Clients) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(c.Trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// parseAddr returns the address of a connection. All without one count as one client.
func parseAddr(from string) netip.Addr {
	peer, _ := netip.ParseAddrPort(from) // the zero address, if there is none
	return peer.Addr().Unmap().WithZone("")
}
