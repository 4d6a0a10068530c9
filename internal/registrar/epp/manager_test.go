package epp_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// Hosts below a name get their addresses (glue), and the name is delegated to them.
func TestGlue(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	hosts := []string{"ns1.hostile.com", "ns2.hostile.com"}
	wantCode(t, e.SetNameservers(t.Context(), name, hosts), deed.CodeValidation)
	addrs := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}
	for _, h := range hosts {
		for _, some := range [][]netip.Addr{addrs, addrs, addrs[:1]} {
			if err := e.SetHost(t.Context(), h, some); err != nil {
				t.Fatal(err)
			}
			if got, _ := e.server.Host(h); len(got) != len(some) || got[0] != "192.0.2.1" {
				t.Errorf("%s: got %v, want %v", h, got, some)
			}
		}
	}
	if err := e.SetNameservers(t.Context(), name, hosts); err != nil {
		t.Error(err)
	}
	if h, err := e.Holding(t.Context(), name); err != nil || !slices.Equal(h.Nameservers, hosts) {
		t.Errorf("got %+v, %v", h, err)
	}
	wantCode(t, e.DeleteHost(t.Context(), hosts[0]), deed.CodeValidation)
	wantCode(t, e.DeleteHost(t.Context(), "ns9.hostile.com"), deed.CodeNotFound)
	wantCode(t, e.SetHost(t.Context(), "bad host", addrs), deed.CodeValidation)
	if _, err := e.registry.Elsewhere(t.Context(), "foreign.com"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, e.SetHost(t.Context(), "ns1.foreign.com", addrs), deed.CodeNotFound)
}

// A name is deleted with the hosts below it, but not while another name uses one.
func TestDeleteWithHosts(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	e.bought(t, "second.com")
	hosts := []string{"ns1.hostile.com", "ns2.hostile.com"}
	glue := lifecycle.Glue{
		{Host: hosts[0], Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}},
		{Host: hosts[1], Addresses: []netip.Addr{netip.MustParseAddr("2001:db8::1")}},
	}
	if err := e.SetDelegation(t.Context(), name, hosts, glue); err != nil {
		t.Fatal(err)
	}
	if err := e.SetNameservers(t.Context(), "second.com", hosts); err != nil {
		t.Fatal(err)
	}
	wantCode(t, e.Delete(t.Context(), name), deed.CodeValidation)
	if h, err := e.Holding(t.Context(), name); err != nil || h.Phase != lifecycle.PhaseActive {
		t.Errorf("got %+v, %v, want it to stay", h, err)
	}
	if err := e.SetNameservers(t.Context(), "second.com", []string{"ns1.example.net", "ns2.example.net"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if a, err := e.Available(t.Context(), name); err != nil || !a.Available {
		t.Errorf("got %+v, %v, want it to be free", a, err)
	}
	for _, h := range hosts {
		if _, ok := e.server.Host(h); ok {
			t.Errorf("%s is left", h)
		}
	}
}

// A host that the registry has deleted since is created again.
func TestHostVanishes(t *testing.T) {
	e := open(t)
	hosts := []string{"ns1.example.net", "ns2.example.net"}
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: name, Years: 1, Nameservers: hosts, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e.server.DropHosts()
	o.Name = "another.com"
	if err := e.Place(t.Context(), o); err == nil {
		t.Error("a host that does not exist was accepted")
	} else {
		uncoded(t, err)
	}
	if err := e.Place(t.Context(), o); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
	e.bought(t, "third.com")
	e.server.DropHosts()
	uncoded(t, e.SetNameservers(t.Context(), "third.com", hosts))
	if err := e.SetNameservers(t.Context(), "third.com", hosts); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
}

// A name is deleted at once in its add grace period, and later goes to redemption.
func TestDelete(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	if err := e.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if a, err := e.Available(t.Context(), name); err != nil || !a.Available {
		t.Errorf("got %+v, %v, want it to be free", a, err)
	}
	wantCode(t, e.Delete(t.Context(), name), deed.CodeNotFound)
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "again", Name: name, Years: 1, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e.Advance(10 * day)
	if err := e.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if h, err := e.Holding(t.Context(), name); err != nil || h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("got %+v, %v, want redemption", h, err)
	}
	wantCode(t, e.Delete(t.Context(), name), deed.CodeValidation)
}

// A key that the registry has instead of a DS is seen as its DS, and goes with it.
func TestKeyInsteadOfDS(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	ours := []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
	for _, ds := range [][]dnssec.DS{nil, ours} {
		e.server.SetKey(name, "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==")
		h, err := e.Holding(t.Context(), name)
		if err != nil || len(h.DS) != 1 || h.DS[0].KeyTag != 55648 || h.DS[0].Algorithm != 13 || h.DS[0].DigestType != 2 {
			t.Errorf("got %+v, %v, want the DS of the key", h.DS, err)
		}
		if err := e.SetDS(t.Context(), name, ds); err != nil {
			t.Error(err)
		}
		if h, err := e.Holding(t.Context(), name); err != nil || !dnssec.SameDS(h.DS, ds) {
			t.Errorf("got %+v, %v, want %+v", h.DS, err, ds)
		}
	}
}
