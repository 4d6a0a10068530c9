package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientAddr returns the address a request came from: that of the connection,
// unless a trusted proxy made the connection. Then it is the right-most hop of
// X-Forwarded-For that is no trusted proxy; what stands left of it was written
// by the caller.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // net/http writes it; a zero address is counted as one caller
	addr := peer.Addr().Unmap().WithZone("")
	if !within(addr, trusted) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break // what a broken hop hides cannot be believed
		}
		addr = hop
		if !within(hop, trusted) {
			break
		}
	}
	return addr
}

// parseHop reads an address with or without a port.
func parseHop(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}

func within(addr netip.Addr, prefixes []netip.Prefix) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// clientKey is what an address is counted by: IPv6 by its /64, which one
// customer of a provider has to itself.
func clientKey(addr netip.Addr) string {
	if addr.Is6() {
		prefix, _ := addr.Prefix(64) // 64 always fits
		return prefix.String()
	}
	return addr.String()
}
