package dnssec_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// parentZone is a TLD with all kinds of delegations.
func parentZone(t testing.TB) dnssec.ServedZone {
	t.Helper()
	elsewhere := []dnssec.Nameserver{{Host: "ns1.example.net"}, {Host: "ns2.example.net"}}
	rrs := []dnszone.RR{fromText(t, "ns.nic.dev. 3600 A 192.0.2.54")} // an authoritative host of the registry
	for _, d := range []dnssec.Delegation{
		{Name: "signed.dev", Nameservers: elsewhere, DS: zoneKey(t, "signed.dev").DS()},
		{Name: "plain.dev", Nameservers: elsewhere},
		{Name: "inside.dev", Nameservers: []dnssec.Nameserver{
			{Host: "ns.inside.dev", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.53"), netip.MustParseAddr("2001:db8::53")}},
			{Host: "Inside.dev.", Addresses: []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.55")}},
		}, DS: zoneKey(t, "inside.dev").DS()},
		{Name: "beside.dev", Nameservers: []dnssec.Nameserver{{Host: "ns.inside.dev", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}}},
	} {
		more, err := d.RRs()
		if err != nil {
			t.Fatal(err)
		}
		rrs = append(rrs, more...)
	}
	return compose(t, "dev", 1, rrs)
}

func TestParentZone(t *testing.T) {
	ds := func(name string) string {
		d := zoneKey(t, name).DS()[0]
		rr, err := d.RR(name)
		if err != nil {
			t.Fatal(err)
		}
		return toLibrary(t, rr).String()
	}
	unsigned := parentZone(t)
	want := `dev.	3600	IN	SOA	ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300
dev.	3600	IN	NS	ns1.example.net.
dev.	3600	IN	NS	ns2.example.net.
beside.dev.	3600	IN	NS	ns.inside.dev.
inside.dev.	3600	IN	A	192.0.2.55
inside.dev.	3600	IN	NS	ns.inside.dev.
inside.dev.	3600	IN	NS	inside.dev.
` + ds("inside.dev") + `
ns.inside.dev.	3600	IN	A	192.0.2.53
ns.inside.dev.	3600	IN	AAAA	2001:db8::53
ns.nic.dev.	3600	IN	A	192.0.2.54
plain.dev.	3600	IN	NS	ns1.example.net.
plain.dev.	3600	IN	NS	ns2.example.net.
signed.dev.	3600	IN	NS	ns1.example.net.
signed.dev.	3600	IN	NS	ns2.example.net.
` + ds("signed.dev") + "\n"
	if diff := cmp.Diff(want, zoneFile(t, unsigned)); diff != "" {
		t.Errorf("the zone differs (-want +got):\n%s", diff)
	}
	now := date(2027, 1, 1)
	checkSigned(t, unsigned, sign(t, dnssec.ServedZone{}, unsigned, now), now)
}

func TestDelegationRefuses(t *testing.T) {
	outside := dnssec.Nameserver{Host: "ns1.example.net"}
	for _, c := range []struct {
		name string
		in   dnssec.Delegation
	}{
		{"no servers", dnssec.Delegation{Name: "example.dev"}},
		{"a server without a name", dnssec.Delegation{Name: "example.dev", Nameservers: []dnssec.Nameserver{{}}}},
		{"a server with a long label", dnssec.Delegation{Name: "example.dev", Nameservers: []dnssec.Nameserver{{Host: strings.Repeat("a", 64) + ".net"}}}},
		{"a server inside without addresses", dnssec.Delegation{Name: "example.dev", Nameservers: []dnssec.Nameserver{outside, {Host: "ns.example.dev"}}}},
		{"a server inside with no real address", dnssec.Delegation{Name: "example.dev", Nameservers: []dnssec.Nameserver{{Host: "ns.example.dev", Addresses: []netip.Addr{{}}}}}},
		{"a DS without a digest", dnssec.Delegation{Name: "example.dev", Nameservers: []dnssec.Nameserver{outside}, DS: []dnssec.DS{{KeyTag: 1}}}},
	} {
		if _, err := c.in.RRs(); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%s: got %v, want %s", c.name, err, deed.CodeValidation)
		}
	}
}

// The DS of a key is that of RFC 6605, 6.1.
func TestDSOfKey(t *testing.T) {
	const key = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edb\n krSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA=="
	ds, err := dnssec.DSOfKey("example.net", 257, 3, 13, key)
	if want := (dnssec.DS{KeyTag: 55648, Algorithm: 13, DigestType: 2, Digest: "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17"}); err != nil || ds != want {
		t.Errorf("got %+v, %v, want %+v", ds, err, want)
	}
	for _, bad := range []string{"", "no key", "===="} {
		if ds, err := dnssec.DSOfKey("example.net", 257, 3, 13, bad); err == nil {
			t.Errorf("%q: got %+v", bad, ds)
		}
	}
}
