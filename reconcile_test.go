package deed_test

import (
	"testing"
	"time"

	"deed.example/deed"
)

func TestDifferences(t *testing.T) {
	key := deed.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "aa"}
	r := deed.Registration{
		Name: "example.com", Reference: "a", Expires: date(2028, time.March, 1), Locked: true,
		Nameservers: []string{"ns1.example.net", "ns2.example.net"}, DS: []deed.DS{key},
	}
	for name, c := range map[string]struct {
		change func(*deed.Holding)
		want   deed.Difference // without its name; zero for none
	}{
		"nothing":          {func(*deed.Holding) {}, deed.Difference{}},
		"another zone":     {func(h *deed.Holding) { h.Expires = h.Expires.In(time.FixedZone("", 3600)) }, deed.Difference{}},
		"another order":    {func(h *deed.Holding) { h.Nameservers = []string{"ns2.example.net", "ns1.example.net"} }, deed.Difference{}},
		"no reference":     {func(h *deed.Holding) { h.Reference = "" }, deed.Difference{}},
		"reference":        {func(h *deed.Holding) { h.Reference = "b" }, deed.Difference{What: deed.DiffersReference, Ours: "a", Theirs: "b"}},
		"expiry":           {func(h *deed.Holding) { h.Expires = h.Expires.AddDate(1, 0, 0) }, deed.Difference{What: deed.DiffersExpiry, Ours: "2028-03-01T12:00:00Z", Theirs: "2029-03-01T12:00:00Z"}},
		"lock":             {func(h *deed.Holding) { h.Locked = false }, deed.Difference{What: deed.DiffersLock, Ours: "locked", Theirs: "unlocked"}},
		"a server less":    {func(h *deed.Holding) { h.Nameservers = h.Nameservers[:1] }, deed.Difference{What: deed.DiffersNameservers, Ours: "ns1.example.net ns2.example.net", Theirs: "ns1.example.net"}},
		"one server twice": {func(h *deed.Holding) { h.Nameservers = []string{"ns1.example.net", "ns1.example.net"} }, deed.Difference{What: deed.DiffersNameservers, Ours: "ns1.example.net ns2.example.net", Theirs: "ns1.example.net ns1.example.net"}},
		"unsigned":         {func(h *deed.Holding) { h.DS = nil }, deed.Difference{What: deed.DiffersDS, Ours: "[{1 13 2 aa}]", Theirs: "[]"}},
	} {
		h := deed.Holding{Name: r.Name, Reference: r.Reference, Expires: r.Expires, Locked: r.Locked, Nameservers: r.Nameservers, DS: r.DS}
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
