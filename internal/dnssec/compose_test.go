package dnssec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

func TestCompose(t *testing.T) {
	var rrs []dnszone.RR
	for _, line := range []string{
		"www.example.com. 300 A 192.0.2.2",
		"*.example.com. 300 A 192.0.2.9",
		"www.example.com. 60 A 192.0.2.1",
		"example.com. 600 MX 10 mail.example.com.",
		"z.a.example.com. 300 A 192.0.2.3",
		"www.example.com. 900 A 192.0.2.1",
		"a-b.example.com. 300 A 192.0.2.4",
		`www.example.com. 300 TXT "hello"`,
	} {
		rrs = append(rrs, fromText(t, line))
	}
	got := zoneFile(t, compose(t, "example.com", 7, rrs))
	want := `example.com.	3600	IN	SOA	ns1.example.net. hostmaster.example.net. 7 3600 600 1209600 300
example.com.	3600	IN	NS	ns1.example.net.
example.com.	3600	IN	NS	ns2.example.net.
example.com.	600	IN	MX	10 mail.example.com.
*.example.com.	300	IN	A	192.0.2.9
z.a.example.com.	300	IN	A	192.0.2.3
a-b.example.com.	300	IN	A	192.0.2.4
www.example.com.	60	IN	A	192.0.2.1
www.example.com.	60	IN	A	192.0.2.2
www.example.com.	300	IN	TXT	"hello"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the zone differs (-want +got):\n%s", diff)
	}
}

func TestComposeRefuses(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct {
		name string
		edit func(*dnssec.Composition)
	}{
		{"a record outside", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{fromText(t, "www.example.org. 300 A 192.0.2.1")} }},
		{"a record of a longer name", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{fromText(t, "anexample.com. 300 A 192.0.2.1")} }},
		{"NS at the apex", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{fromText(t, "example.com. 300 NS ns.example.org.")} }},
		{"a second SOA", func(c *dnssec.Composition) {
			c.RRs = []dnszone.RR{fromText(t, "example.com. 300 SOA a. b. 1 2 3 4 5")}
		}},
		{"a signature", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{{Owner: "example.com", Type: dns.TypeRRSIG}} }},
		{"a label too long", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{{Owner: long + ".example.com", Type: dns.TypeA}} }},
		{"an owner in upper case", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{{Owner: "WWW.example.com", Type: dns.TypeA}} }},
		{"an owner with an escape", func(c *dnssec.Composition) { c.RRs = []dnszone.RR{{Owner: `a\.b.example.com`, Type: dns.TypeA}} }},
		{"an origin with its last dot", func(c *dnssec.Composition) { c.Origin = "example.com." }},
		{"no origin", func(c *dnssec.Composition) { c.Origin = "" }},
		{"data too long", func(c *dnssec.Composition) {
			c.RRs = []dnszone.RR{{Owner: "example.com", Type: dns.TypeTXT, Data: strings.Repeat("a", 1<<16)}}
		}},
		{"no servers", func(c *dnssec.Composition) { c.Servers = nil }},
		{"a server without a name", func(c *dnssec.Composition) { c.Servers = []string{""} }},
		{"a server with an empty label", func(c *dnssec.Composition) { c.Servers = []string{"ns..example.net"} }},
		{"a primary without a name", func(c *dnssec.Composition) { c.SOA.Primary = "" }},
		{"a mailbox without a name", func(c *dnssec.Composition) { c.SOA.Mailbox = "" }},
	} {
		in := dnssec.Composition{Origin: "example.com", SOA: dnssec.NewSOA("ns1.example.net", "h.example.net"), Servers: []string{"ns1.example.net"}}
		if _, err := dnssec.Compose(in); err != nil {
			t.Fatalf("the valid composition: %v", err)
		}
		c.edit(&in)
		if z, err := dnssec.Compose(in); err == nil {
			t.Errorf("%s: got %v, want an error", c.name, z)
		}
	}
}

func TestDiffStartsWithSOA(t *testing.T) {
	a := fromText(t, "a.example.com. 300 A 192.0.2.1")
	b := fromText(t, "b.example.com. 300 A 192.0.2.1")
	old := compose(t, "example.com", 1, []dnszone.RR{a})
	next := compose(t, "example.com", 2, []dnszone.RR{b})
	removed, added := old.Diff(next)
	if diff := cmp.Diff([]dnszone.RR{old.RRs[0], a}, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]dnszone.RR{next.RRs[0], b}, added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if removed, added := old.Diff(old); removed != nil || added != nil {
		t.Errorf("a zone differs from itself: %v, %v", removed, added)
	}
}

func TestDiffProducesNextZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, randomRecords(t)), date(2027, 1, 1))
		next := sign(t, old, compose(t, "example.com", 2, randomRecords(t)), date(2027, 1, 2))
		removed, added := old.Diff(next)
		has := map[dnszone.RR]bool{}
		for _, rr := range old.RRs {
			has[rr] = true
		}
		for _, rr := range removed {
			if !has[rr] {
				t.Fatalf("%v was removed, but not in the zone", rr)
			}
			delete(has, rr)
		}
		for _, rr := range added {
			if has[rr] {
				t.Fatalf("%v was added, but already in the zone", rr)
			}
			has[rr] = true
		}
		want := map[dnszone.RR]bool{}
		for _, rr := range next.RRs {
			want[rr] = true
		}
		if diff := cmp.Diff(want, has); diff != "" {
			t.Fatalf("the zones differ (-want +got):\n%s", diff)
		}
	})
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}
