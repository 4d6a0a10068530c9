package dnssec_test

import (
	gocmp "cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// checkSigned checks a signed zone against RFC 4035, 2, with the library and with a
// second, simple implementation of the rules.
func checkSigned(t rapid.TB, unsigned, signed dnssec.ServedZone, now time.Time) {
	t.Helper()
	var bare []dnszone.RR
	for _, rr := range signed.RRs {
		if !slices.Contains([]uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeDNSKEY}, rr.Type) {
			bare = append(bare, rr)
		}
	}
	if diff := cmp.Diff(unsigned.RRs, bare); diff != "" {
		t.Fatalf("signing changed the records (-unsigned +signed):\n%s", diff)
	}
	if !slices.IsSortedFunc(signed.RRs, plainOrder) || signed.RRs[0].Type != dns.TypeSOA {
		t.Fatalf("out of order:\n%s", zoneFile(t, signed))
	}
	checkSignatures(t, signed, now)
	checkChain(t, signed)
}

// plainOrder is the order of a served zone: by owner, type and data, with the SOA as
// the first type.
func plainOrder(a, b dnszone.RR) int {
	rank := func(rr dnszone.RR) int {
		if rr.Type == dns.TypeSOA {
			return 0
		}
		return int(rr.Type)
	}
	return gocmp.Or(
		slices.Compare(reversed(a.Owner), reversed(b.Owner)),
		gocmp.Compare(rank(a), rank(b)),
		strings.Compare(a.Data, b.Data),
	)
}

// checkSignatures checks that every signed set has exactly one valid signature.
func checkSignatures(t rapid.TB, z dnssec.ServedZone, now time.Time) {
	t.Helper()
	key := toLibrary(t, zoneKey(t, z.Origin).DNSKEY()).(*dns.DNSKEY)
	sigs := map[rrset]*dns.RRSIG{}
	for _, rr := range z.RRs {
		if rr.Type != dns.TypeRRSIG {
			continue
		}
		sig := toLibrary(t, rr).(*dns.RRSIG)
		id := rrset{rr.Owner, sig.TypeCovered}
		if sigs[id] != nil {
			t.Fatalf("%v has two signatures", id)
		}
		sigs[id] = sig
	}
	for id, rrs := range rrsets(z.RRs) {
		where := standing(z, id.owner)
		want := where == "authoritative" || where == "cut" && (id.kind == dns.TypeDS || id.kind == dns.TypeNSEC)
		if id.kind == dns.TypeRRSIG {
			continue
		}
		sig := sigs[id]
		delete(sigs, id)
		if (sig != nil) != want {
			t.Fatalf("%v, %s: got signature %v", id, where, sig)
		}
		if sig == nil {
			continue
		}
		var set []dns.RR
		for _, rr := range rrs {
			set = append(set, toLibrary(t, rr))
		}
		if err := sig.Verify(key, set); err != nil || !sig.ValidityPeriod(now) || sig.Hdr.Ttl != rrs[0].TTL || sig.OrigTtl != rrs[0].TTL {
			t.Fatalf("%v: the signature is wrong: %v\n%v", set, err, sig)
		}
		checkWildcard(t, key, sig, set)
	}
	if len(sigs) > 0 {
		t.Fatalf("signatures without records: %v", sigs)
	}
}

// checkWildcard checks that a wildcard's signature validates synthesized names, which
// a resolver detects by the label count (RFC 4035, 5.3.2).
func checkWildcard(t rapid.TB, key *dns.DNSKEY, sig *dns.RRSIG, set []dns.RR) {
	t.Helper()
	rest, wild := strings.CutPrefix(sig.Hdr.Name, "*.")
	if !wild {
		rest = sig.Hdr.Name
	}
	if got, want := int(sig.Labels), dns.CountLabel(rest); got != want {
		t.Fatalf("%v: got %d labels, want %d", sig, got, want)
	}
	if !wild {
		return
	}
	for _, rr := range append(set, sig) {
		rr.Header().Name = "some.name." + rest
	}
	if err := sig.Verify(key, set); err != nil {
		t.Fatalf("%v: an answer from the wildcard does not validate: %v", set, err)
	}
}

// checkChain checks that each authoritative name and each cut has an NSEC with its
// types, and that they form a circular chain in canonical order.
func checkChain(t rapid.TB, z dnssec.ServedZone) {
	t.Helper()
	types := map[string][]uint16{}
	for id := range rrsets(z.RRs) {
		where := standing(z, id.owner)
		if where == "authoritative" || where == "cut" && slices.Contains([]uint16{dns.TypeNS, dns.TypeDS, dns.TypeNSEC, dns.TypeRRSIG}, id.kind) {
			types[id.owner] = append(types[id.owner], id.kind)
		}
	}
	owners := slices.SortedFunc(maps.Keys(types), func(a, b string) int { return slices.Compare(reversed(a), reversed(b)) })
	nsecs := map[string]dnszone.RR{}
	for _, rr := range z.RRs {
		if rr.Type == dns.TypeNSEC {
			nsecs[rr.Owner] = rr
		}
	}
	if len(nsecs) != len(owners) {
		t.Fatalf("got %d names with NSEC, want %d", len(nsecs), len(owners))
	}
	for i, owner := range owners {
		nsec, ok := toLibrary(t, nsecs[owner]).(*dns.NSEC)
		next := owners[(i+1)%len(owners)] + "."
		slices.Sort(types[owner])
		if !ok || nsec.NextDomain != next || nsec.Hdr.Ttl != 300 || !slices.Equal(nsec.TypeBitMap, types[owner]) {
			t.Fatalf("%s: got %v, want next %s, types %v", owner, nsec, next, types[owner])
		}
	}
}
