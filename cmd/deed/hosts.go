package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/resolver"
)

// The values that are lists of hosts, addresses and networks.

// listed splits a list at its commas and spaces.
func listed(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func prefixes(at *[]netip.Prefix) value[[]netip.Prefix] {
	parse := func(s string) ([]netip.Prefix, error) {
		var out []netip.Prefix
		for _, word := range listed(s) {
			p, err := netip.ParsePrefix(word)
			if err != nil {
				return nil, fmt.Errorf("%q is not a network: write it like 10.0.0.0/8", word)
			}
			out = append(out, p.Masked())
		}
		return out, nil
	}
	return value[[]netip.Prefix]{at, parse, func(ps []netip.Prefix) string {
		words := make([]string, len(ps))
		for i, p := range ps {
			words[i] = p.String()
		}
		return strings.Join(words, ",")
	}}
}

func hosts(at *[]string) value[[]string] {
	parse := func(s string) ([]string, error) {
		return deed.ParseNameservers(listed(s))
	}
	return value[[]string]{at, parse, func(all []string) string { return strings.Join(all, ",") }}
}

func addresses(at *[]netip.Addr) value[[]netip.Addr] {
	parse := func(s string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, word := range listed(s) {
			a, err := netip.ParseAddr(word)
			if err != nil || a.Zone() != "" || a.IsUnspecified() {
				return nil, fmt.Errorf("%q is not an address: write it like 192.0.2.1 or 2001:db8::1", word)
			}
			out = append(out, a.Unmap())
		}
		return out, nil
	}
	return value[[]netip.Addr]{at, parse, func(list []netip.Addr) string {
		words := make([]string, len(list))
		for i, a := range list {
			words[i] = a.String()
		}
		return strings.Join(words, ",")
	}}
}

func resolvers(at *[]string) value[[]string] {
	parse := func(s string) ([]string, error) {
		all := listed(s)
		if len(all) == 1 && all[0] == resolver.System {
			return all, nil
		}
		for _, w := range all {
			if address(w) != nil {
				return nil, fmt.Errorf("%q is not a resolver: write host:port, or system", w)
			}
		}
		if len(all) == 0 {
			return nil, errors.New("there is no resolver: write host:port, or system")
		}
		return all, nil
	}
	return value[[]string]{at, parse, func(all []string) string { return strings.Join(all, ",") }}
}

// secondaries are name servers that are told of changes.
func secondaries(at *[]string) value[[]string] {
	parse := func(s string) ([]string, error) {
		all := listed(s)
		for _, w := range all {
			name, addr, ok := strings.Cut(w, "@")
			addr, _, _ = strings.Cut(addr, "/")
			if !ok || name == "" || address(addr) != nil {
				return nil, fmt.Errorf("%q is not a name server: write name@host:port, or name@host:port/key", w)
			}
		}
		return all, nil
	}
	return value[[]string]{at, parse, func(all []string) string { return strings.Join(all, ",") }}
}
