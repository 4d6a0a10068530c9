package lifecycle_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

func TestDifferences(t *testing.T) {
	key := dnssec.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "aa"}
	r := lifecycle.Registration{
		Name: "example.com", Reference: "a", Expires: date(2028, time.March, 1), Locked: true,
		Nameservers: []string{"ns1.example.net", "ns2.example.net"}, DS: []dnssec.DS{key},
	}
	for name, c := range map[string]struct {
		change func(*lifecycle.Holding)
		want   lifecycle.Difference // without its name; zero for none
	}{
		"nothing":          {func(*lifecycle.Holding) {}, lifecycle.Difference{}},
		"another zone":     {func(h *lifecycle.Holding) { h.Expires = h.Expires.In(time.FixedZone("", 3600)) }, lifecycle.Difference{}},
		"another order":    {func(h *lifecycle.Holding) { h.Nameservers = []string{"ns2.example.net", "ns1.example.net"} }, lifecycle.Difference{}},
		"no reference":     {func(h *lifecycle.Holding) { h.Reference = "" }, lifecycle.Difference{}},
		"reference":        {func(h *lifecycle.Holding) { h.Reference = "b" }, lifecycle.Difference{What: lifecycle.DiffersReference, Stored: "a", Registry: "b"}},
		"expiry":           {func(h *lifecycle.Holding) { h.Expires = h.Expires.AddDate(1, 0, 0) }, lifecycle.Difference{What: lifecycle.DiffersExpiry, Stored: "2028-03-01T12:00:00Z", Registry: "2029-03-01T12:00:00Z"}},
		"lock":             {func(h *lifecycle.Holding) { h.Locked = false }, lifecycle.Difference{What: lifecycle.DiffersLock, Stored: "locked", Registry: "unlocked"}},
		"a server less":    {func(h *lifecycle.Holding) { h.Nameservers = h.Nameservers[:1] }, lifecycle.Difference{What: lifecycle.DiffersNameservers, Stored: "ns1.example.net ns2.example.net", Registry: "ns1.example.net"}},
		"one server twice": {func(h *lifecycle.Holding) { h.Nameservers = []string{"ns1.example.net", "ns1.example.net"} }, lifecycle.Difference{What: lifecycle.DiffersNameservers, Stored: "ns1.example.net ns2.example.net", Registry: "ns1.example.net ns1.example.net"}},
		"unsigned":         {func(h *lifecycle.Holding) { h.DS = nil }, lifecycle.Difference{What: lifecycle.DiffersDS, Stored: "[{1 13 2 aa}]", Registry: "[]"}},
	} {
		h := lifecycle.Holding{Name: r.Name, Reference: r.Reference, Expires: r.Expires, Locked: r.Locked, Nameservers: r.Nameservers, DS: r.DS}
		c.change(&h)
		got := r.Differences(h)
		if c.want.What == "" {
			if len(got) != 0 {
				t.Errorf("%s: got %v, want none", name, got)
			}
			continue
		}
		c.want.Name = r.Name
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestStrayDS(t *testing.T) {
	ours, theirs := dnssec.DS{KeyTag: 7, Digest: "ab"}, dnssec.DS{KeyTag: 8, Digest: "cd"}
	servers, elsewhere := []string{"ns1.deed.example", "ns2.deed.example"}, []string{"ns1.example.net"}
	for what, c := range map[string]struct {
		record  []dnssec.DS
		servers []string
		ds      []dnssec.DS
		rest    int
		stray   bool
	}{
		"set while the owner moved":    {nil, elsewhere, []dnssec.DS{ours}, 0, true},
		"beside another":               {[]dnssec.DS{theirs}, elsewhere, []dnssec.DS{theirs, ours}, 1, true},
		"of another key":               {nil, elsewhere, []dnssec.DS{theirs}, 1, false},
		"set by the owner, or renamed": {[]dnssec.DS{ours}, elsewhere, []dnssec.DS{ours}, 1, false},
		"at our servers":               {nil, servers, []dnssec.DS{ours}, 1, false},
		"at one of our servers":        {nil, []string{servers[1], elsewhere[0]}, []dnssec.DS{ours}, 1, false},
		"without servers":              {nil, nil, []dnssec.DS{ours}, 1, false},
		"of another key at ours":       {nil, servers, []dnssec.DS{theirs}, 0, true},
		"known, of another key":        {[]dnssec.DS{theirs}, []string{servers[1], servers[0]}, []dnssec.DS{theirs}, 0, true},
		"of two keys at ours":          {nil, servers, []dnssec.DS{theirs, ours}, 2, false},
		"of another key at one server": {nil, []string{servers[1], elsewhere[0]}, []dnssec.DS{theirs}, 1, false},
		"none at ours":                 {nil, servers, nil, 0, false},
	} {
		rest, stray := lifecycle.Registration{DS: c.record}.StrayDS(lifecycle.Holding{Nameservers: c.servers, DS: c.ds}, servers, []dnssec.DS{ours})
		if stray != c.stray || len(rest) != c.rest {
			t.Errorf("%s: got %v, %t", what, rest, stray)
		}
	}
	unsigned := lifecycle.Holding{Nameservers: servers, DS: []dnssec.DS{theirs}}
	if rest, stray := (lifecycle.Registration{}).StrayDS(unsigned, servers, nil); stray || len(rest) != 1 {
		t.Errorf("a zone that we do not sign: got %v, %t", rest, stray)
	}
}
