package nameserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver"
)

// Responses from signed zones have the signatures and proofs that a validator needs,
// but only if the DO bit is set.
func TestDNSSEC(t *testing.T) {
	s := serve(t, config())
	key := newSigner(t, "hotel.test")
	lines := append(slices.Clone(testZone), "safe 300 NS ns.example.net.", "safe 300 DS 1 13 2 "+strings.Repeat("ab", 32),
		"*.safea 300 CNAME x.safeb", "safeb 300 NS ns.safeb", "ns.safeb 300 A 192.0.2.99", "safeb 300 DS 1 13 2 "+strings.Repeat("ab", 32))
	if err := s.Publish(t.Context(), key.sign(t, zoneOf(t, "hotel.test", lines))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		typ    uint16
		proofs string // owners of the NSEC records, relative
		signed string // types with a signature
	}{
		{"www", dns.TypeA, "", "A"},
		{"www", dns.TypeMX, "www", "NSEC SOA"},
		{"missing", dns.TypeA, "mail @", "NSEC NSEC SOA"},
		{"deep.tree", dns.TypeA, "svc", "NSEC SOA"},
		{"any.wild", dns.TypeA, "*.wild", "A NSEC"},
		{"zzz.wild", dns.TypeA, "tame.wild", "A NSEC"},
		{"zzz.wild", dns.TypeAAAA, "tame.wild *.wild", "NSEC NSEC SOA"},
		{"x.far", dns.TypeA, "far", "NSEC"},
		{"x.safe", dns.TypeA, "", "DS"},
		{"safe", dns.TypeDS, "", "DS"},
		{"any.safea", dns.TypeA, "*.safea", "CNAME DS NSEC"}, // to a delegation with glue
		{"far", dns.TypeDS, "far", "NSEC SOA"},
		{"c1", dns.TypeA, "", "A CNAME CNAME CNAME"},
		{"cd", dns.TypeA, "*.deeper.wild", "A CNAME CNAME NSEC"},
		{"www", dns.TypeRRSIG, "", "TYPE65280"},
		{"c1", dns.TypeNSEC, "", "NSEC"},
	} {
		m := askDNSSEC(t, s, c.name+".hotel.test.", c.typ)
		var proofs, signed []string
		for _, rr := range m.Ns {
			if rr.Header().Rrtype == dns.TypeNSEC {
				proofs = append(proofs, relative(rr.Header().Name))
			}
		}
		for _, rr := range slices.Concat(m.Answer, m.Ns) {
			if rr.Header().Rrtype == dns.TypeA && slices.Contains(m.Ns, rr) {
				t.Errorf("%s %s: %v is in the authority section", c.name, dns.Type(c.typ), rr)
			}
			if sig, ok := rr.(*dns.RRSIG); ok {
				signed = append(signed, dns.Type(sig.TypeCovered).String())
			}
		}
		slices.Sort(signed)
		if got := strings.Join(proofs, " "); got != c.proofs {
			t.Errorf("%s %s: got proofs by %q, want %q", c.name, dns.Type(c.typ), got, c.proofs)
		}
		if got := strings.Join(signed, " "); got != c.signed {
			t.Errorf("%s %s: got signatures of %q, want %q", c.name, dns.Type(c.typ), got, c.signed)
		}
		if c.typ != dns.TypeRRSIG {
			verify(t, key, m)
		}
		plain := ask(t, s, "tcp", query(c.name+".hotel.test.", c.typ))
		for _, rr := range slices.Concat(plain.Answer, plain.Ns) {
			if typ := rr.Header().Rrtype; typ == dns.TypeRRSIG && c.typ != typ || typ == dns.TypeNSEC && c.typ != typ {
				t.Errorf("%s: without DO: got %v", c.name, rr)
			}
		}
	}
}

func askDNSSEC(t *testing.T, s *nameserver.Server, name string, typ uint16) *dns.Msg {
	t.Helper()
	return ask(t, s, "tcp", query(name, typ).SetEdns0(1232, true))
}

func relative(name string) string {
	if name == "hotel.test." {
		return "@"
	}
	return strings.TrimSuffix(name, ".hotel.test.")
}

// verify checks every signature in the message against the records it covers.
func verify(t *testing.T, key *signer, m *dns.Msg) {
	t.Helper()
	for _, section := range [][]dns.RR{m.Answer, m.Ns} {
		for _, rr := range section {
			sig, ok := rr.(*dns.RRSIG)
			if !ok {
				continue
			}
			var covered []dns.RR
			for _, other := range section {
				if other.Header().Rrtype == sig.TypeCovered && other.Header().Name == sig.Header().Name {
					covered = append(covered, other)
				}
			}
			if err := sig.Verify(key.key, covered); err != nil {
				t.Errorf("%v does not cover %v: %v", sig, covered, err)
			}
		}
	}
}
