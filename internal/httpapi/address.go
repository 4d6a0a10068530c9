package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientAddr returns the address a request came from: that of the connection,
// unless a trusted proxy made the connection. Then it is the right-most hop of
// X-Forwarded-For that is not a trusted proxy; the hops left of it are under the
// caller's control.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	addr := peerAddr(r)
	if !within(addr, trusted) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break // hops left of a malformed one cannot be trusted
		}
		addr = hop
		if !within(hop, trusted) {
			break
		}
	}
	return addr
}

// fromProxy reports whether a trusted proxy made the connection.
func fromProxy(r *http.Request, trusted []netip.Prefix) bool { return within(peerAddr(r), trusted) }

// peerAddr returns the address of the connection.
func peerAddr(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // net/http sets it; all zero addresses count as one client
	return peer.Addr().Unmap().WithZone("")
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
