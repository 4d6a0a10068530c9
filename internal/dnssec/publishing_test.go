package dnssec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// A secondary that lost its primary just before a zone's signatures would have been
// renewed stops answering before any of them expires.
func TestZoneExpiresBeforeItsSignatures(t *testing.T) {
	p := dnssec.Publishing{SOA: dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"), Servers: []string{"ns1.example.net"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
	now := time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)
	for i := range 50 {
		name := deed.Name(fmt.Sprintf("zone%d.com", i))
		z := dnszone.Zone{Name: name, Serial: 7, Records: []dnszone.Record{{Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300}}}
		signed, err := p.Serve(z, dnssec.ServedZone{}, dnssec.Serving{Keys: []dnssec.KeyID{{Generation: 1}}, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		silent := signed.RenewAt().Add(expireOf(t, signed))
		for _, rr := range signed.RRs {
			if sig, ok := toLibrary(t, rr).(*dns.RRSIG); ok && silent.Unix() >= int64(sig.Expiration) {
				t.Errorf("%s: a signature over %s expires at %s, the zone at %s", name, dns.TypeToString[sig.TypeCovered], time.Unix(int64(sig.Expiration), 0).UTC(), silent)
			}
		}
		plain, err := p.Serve(z, dnssec.ServedZone{}, dnssec.Serving{Now: now})
		if err != nil || expireOf(t, plain) != 14*24*time.Hour {
			t.Errorf("%s: an unsigned zone expires after %s: %v", name, expireOf(t, plain), err)
		}
	}
}

func expireOf(t *testing.T, z dnssec.ServedZone) time.Duration {
	t.Helper()
	return time.Duration(toLibrary(t, z.RRs[0]).(*dns.SOA).Expire) * time.Second
}
