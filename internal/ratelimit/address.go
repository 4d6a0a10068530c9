package ratelimit

import "net/netip"

// AddressKey returns the key that limits count an address by: an IPv6 address counts as
// its /64, which providers assign to one customer.
func AddressKey(addr netip.Addr) string {
	if addr.Is6() {
		prefix, _ := addr.Prefix(64) // 64 always fits
		return prefix.String()
	}
	return addr.String()
}
