package registrartest

import (
	"net/netip"
	"slices"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// managerGlue delegates a name to servers below itself, changes their addresses, and
// delegates it elsewhere again.
func managerGlue(t *testing.T, b Env) {
	m, ok := registrar.GlueOf(b.Manager)
	if !ok {
		t.Skip("the backend cannot publish addresses of hosts")
	}
	b.registered(t, ref, name)
	own := []string{"ns1." + string(name), "ns2." + string(name)}
	set := func(what string, servers []string, glue lifecycle.Glue) {
		t.Helper()
		for range 2 { // twice is like once
			if err := m.SetDelegation(t.Context(), name, servers, glue); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		h := b.holding(t, name)
		if reported := glue.Corrected(name, h.Nameservers, h.Glue); !slices.Equal(slices.Sorted(slices.Values(h.Nameservers)), servers) || reported.String() != glue.String() {
			t.Errorf("%s: got %v with %q, want %v with %q", what, h.Nameservers, h.Glue, servers, glue)
		}
	}
	set("own servers", own, glueOf(own, "192.0.2.1", "192.0.2.2"))
	set("other addresses", own, glueOf(own, "192.0.2.3", "2001:db8::1"))
	wantCode(t, m.SetDelegation(t.Context(), name, []string{own[0], "ns3." + string(name)}, glueOf(own, "192.0.2.3", "192.0.2.2")), deed.CodeValidation)
	wantCode(t, m.SetDelegation(t.Context(), "never-bought.com", hosts, nil), deed.CodeNotFound)
	set("one own server", []string{own[0], "ns2.example.net"}, glueOf(own[:1], "192.0.2.3"))
	set("others", hosts, nil)
	set("own servers again", own, glueOf(own, "192.0.2.9", "192.0.2.2"))
	b.Break(t, Down, 5)
	if err := m.SetDelegation(t.Context(), name, hosts, nil); deed.CodeOf(err) != deed.CodeUnavailable {
		t.Errorf("while the registry is down: got %v", err)
	}
}

func glueOf(hosts []string, addrs ...string) (g lifecycle.Glue) {
	for i, host := range hosts {
		g = append(g, dnssec.Nameserver{Host: host, Addresses: []netip.Addr{netip.MustParseAddr(addrs[i])}})
	}
	return g
}
