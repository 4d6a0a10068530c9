package nameserver_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver"
)

// Signatures are answered exactly as they were published, also those that we would not
// make: the short form in which they are stored is not for them.
func TestSignaturesAreAnsweredUnchanged(t *testing.T) {
	for name, change := range map[string]func(sig *dnszone.RR){
		"ours":              func(*dnszone.RR) {},
		"another TTL":       func(sig *dnszone.RR) { sig.TTL++ },
		"another first TTL": func(sig *dnszone.RR) { sig.Data = sig.Data[:4] + "\x00\x00\x00\x07" + sig.Data[8:] },
		"longer":            func(sig *dnszone.RR) { sig.Data += "more" },
		"shorter":           func(sig *dnszone.RR) { sig.Data = sig.Data[:len(sig.Data)-1] },
		"another signer":    func(sig *dnszone.RR) { sig.Data = sig.Data[:18] + "\x05hotex\x04test\x00" + sig.Data[18+12:] },
		"of nothing":        func(sig *dnszone.RR) { sig.Data = "\x00\x63" + sig.Data[2:] },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, config())
			z := newSigner(t, "hotel.test").sign(t, zoneOf(t, "hotel.test", testZone))
			i := slices.IndexFunc(z.RRs, func(rr dnszone.RR) bool {
				return rr.Owner == "www.hotel.test" && rr.Type == dns.TypeRRSIG && covered(rr) == dns.TypeA
			})
			change(&z.RRs[i])
			if err := s.Publish(t.Context(), z); err != nil {
				t.Fatal(err)
			}
			checkSignatures(t, s, "www.hotel.test", z.RRs)
			checkSignatures(t, s, "mail.hotel.test", z.RRs)
		})
	}
}

func covered(sig dnszone.RR) uint16 { return binary.BigEndian.Uint16([]byte(sig.Data)) }

// checkSignatures asks for every set of the owner that is signed.
func checkSignatures(t *testing.T, s *nameserver.Server, owner string, rrs []dnszone.RR) {
	t.Helper()
	want := map[uint16][]string{}
	for _, rr := range rrs {
		if rr.Owner == owner && rr.Type == dns.TypeRRSIG {
			want[covered(rr)] = append(want[covered(rr)], string(packed(t, rr)))
		}
	}
	if len(want) == 0 {
		t.Fatalf("%s has no signatures", owner)
	}
	for typ, sigs := range want {
		if !slices.ContainsFunc(rrs, func(rr dnszone.RR) bool { return rr.Owner == owner && rr.Type == typ }) {
			continue // of nothing
		}
		var got []string
		for _, rr := range askDNSSEC(t, s, owner+".", typ).Answer {
			if rr.Header().Rrtype == dns.TypeRRSIG {
				raw := make([]byte, 1000)
				n, err := dns.PackRR(rr, raw, 0, nil, false)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(raw[:n]))
			}
		}
		if !slices.Equal(got, sigs) {
			t.Errorf("%s %s: got %x, want %x", owner, dns.Type(typ), got, sigs)
		}
	}
}
