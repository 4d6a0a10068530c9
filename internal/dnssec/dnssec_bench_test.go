package dnssec_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// tenRecords are the records of a typical zone; the first is alone at its host.
func tenRecords(t rapid.TB) []dnszone.RR {
	t.Helper()
	var rrs []dnszone.RR
	for _, line := range []string{
		"www.example.com. 300 A 192.0.2.1",
		"example.com. 300 A 192.0.2.1",
		"example.com. 300 AAAA 2001:db8::1",
		"example.com. 300 MX 10 mail.example.com.",
		`example.com. 300 TXT "v=spf1 mx -all"`,
		`_dmarc.example.com. 300 TXT "v=DMARC1; p=reject"`,
		"mail.example.com. 300 A 192.0.2.25",
		"mail.example.com. 300 AAAA 2001:db8::25",
		`example.com. 300 CAA 0 issue "ca.example"`,
		"shop.example.com. 300 CNAME shops.example.org.",
	} {
		rrs = append(rrs, fromText(t, line))
	}
	return rrs
}

func BenchmarkSignZone(b *testing.B) {
	now := date(2027, 1, 1)
	key := zoneKey(b, "example.com")
	next := compose(b, "example.com", 1, append(tenRecords(b), key.Announce()...))
	for b.Loop() {
		if _, err := dnssec.Sign(dnssec.ServedZone{}, next, dnssec.Signing{Keys: []dnssec.Key{key}, Now: now}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChangeZone changes one record: it derives the key, and composes, signs and
// compares the zone.
func BenchmarkChangeZone(b *testing.B) {
	now := date(2027, 1, 1)
	rrs := append(tenRecords(b), zoneKey(b, "example.com").Announce()...)
	old := sign(b, dnssec.ServedZone{}, compose(b, "example.com", 1, rrs), now)
	rrs[0] = fromText(b, "www.example.com. 300 A 192.0.2.99")
	for b.Loop() {
		next := sign(b, old, compose(b, "example.com", 2, rrs), now.Add(time.Hour))
		if removed, added := old.Diff(next); len(removed) != 4 || len(added) != 4 {
			b.Fatalf("%d removed, %d added", len(removed), len(added))
		}
	}
}

// BenchmarkChangeParent adds one name to a parent zone with many.
func BenchmarkChangeParent(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			now := date(2027, 1, 1)
			rrs := delegations(b, size)
			old := sign(b, dnssec.ServedZone{}, compose(b, "dev", 1, rrs), now)
			rrs = append(rrs, delegations(b, size+1)[len(rrs):]...)
			for b.Loop() {
				sign(b, old, compose(b, "dev", 2, rrs), now.Add(time.Hour))
			}
		})
	}
}

// delegations returns n signed delegations of a parent zone.
func delegations(t rapid.TB, n int) []dnszone.RR {
	t.Helper()
	var out []dnszone.RR
	for i := range n {
		name := deed.Name(fmt.Sprintf("name%06d.dev", i))
		d := dnssec.Delegation{Name: name, Nameservers: []dnssec.Nameserver{{Host: "ns1.example.net"}, {Host: "ns2.example.net"}}, DS: zoneKey(t, "example.com").DS()}
		rrs, err := d.RRs()
		if err != nil {
			t.Fatalf("delegate: %v", err)
		}
		out = append(out, rrs...)
	}
	return out
}
