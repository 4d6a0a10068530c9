package dnssec_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

func TestSignedZonesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := date(2027, 1, 1)
		unsigned := compose(t, "example.com", 1, randomRecords(t))
		signed := sign(t, dnssec.ServedZone{}, unsigned, now)
		checkSigned(t, unsigned, signed, now)
	})
}

// withoutTimes returns the zone without the parts of its signatures that depend on
// the time of signing.
func withoutTimes(t rapid.TB, z dnssec.ServedZone) []string {
	var lines []string
	for _, rr := range z.RRs {
		out := toLibrary(t, rr)
		if sig, ok := out.(*dns.RRSIG); ok {
			sig.Inception, sig.Expiration, sig.Signature = 0, 0, ""
		}
		lines = append(lines, out.String())
	}
	slices.Sort(lines)
	return lines
}

func TestIncrementalSigning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		then := date(2027, 1, 1)
		now := then.Add(time.Duration(rapid.IntRange(0, 16*24*3600).Draw(t, "seconds")) * time.Second)
		rrs := randomRecords(t)
		old := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, rrs), then)
		changed := slices.DeleteFunc(slices.Clone(rrs), func(dnszone.RR) bool { return rapid.IntRange(0, 9).Draw(t, "drop") == 0 })
		changed = append(changed, randomPlain(t, "new.example.com")...)
		next := compose(t, "example.com", 2, changed)

		again, afresh := sign(t, old, next, now), sign(t, dnssec.ServedZone{}, next, now)
		checkSigned(t, next, again, now)
		if diff := cmp.Diff(withoutTimes(t, afresh), withoutTimes(t, again)); diff != "" {
			t.Fatalf("signing incrementally differs (-full +incremental):\n%s", diff)
		}
		if !again.RenewAt().After(now) {
			t.Fatalf("signed at %s, to be renewed at %s", now, again.RenewAt())
		}
		if due := !now.Before(old.RenewAt()); due {
			if diff := cmp.Diff(afresh, again); diff != "" {
				t.Fatalf("an old signature was reused (-full +incremental):\n%s", diff)
			}
			return
		}
		checkKept(t, old, again)
	})
}

// checkKept checks that the signatures of all unchanged sets were reused.
func checkKept(t rapid.TB, old, again dnssec.ServedZone) {
	t.Helper()
	before, after := rrsets(old.RRs), rrsets(again.RRs)
	for _, rr := range old.RRs {
		if rr.Type != dns.TypeRRSIG {
			continue
		}
		id := rrset{rr.Owner, toLibrary(t, rr).(*dns.RRSIG).TypeCovered}
		same := slices.Equal(before[id], after[id])
		// An unchanged set may now be below a delegation.
		if same && standing(again, id.owner) == standing(old, id.owner) && !slices.Contains(again.RRs, rr) {
			t.Fatalf("%v is unchanged and was signed again", id)
		}
	}
}

// newSignatures counts the signatures added by the change.
func newSignatures(old, next dnssec.ServedZone) int {
	_, added := old.Diff(next)
	n := 0
	for _, rr := range added {
		if rr.Type == dns.TypeRRSIG {
			n++
		}
	}
	return n
}

func TestChangeNeedsFewSignatures(t *testing.T) {
	rrs := tenRecords(t)
	now := date(2027, 1, 1)
	old := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, rrs), now)
	replaced := slices.Clone(rrs)
	replaced[0] = fromText(t, "www.example.com. 300 A 192.0.2.99")
	for _, c := range []struct {
		name string
		rrs  []dnszone.RR
		want int
	}{
		{"nothing but the serial: SOA", rrs, 1},
		{"another address: SOA, A", replaced, 2},
		{"a new type: SOA, AAAA, NSEC", append(slices.Clone(rrs), fromText(t, "www.example.com. 300 AAAA 2001:db8::1")), 3},
		{"a new host: SOA, A, NSEC of it and before it", append(slices.Clone(rrs), fromText(t, "new.example.com. 300 A 192.0.2.1")), 4},
		{"a host gone: SOA, NSEC before it", rrs[1:], 2},
	} {
		next := sign(t, old, compose(t, "example.com", 2, c.rrs), now.Add(time.Hour))
		if got := newSignatures(old, next); got != c.want {
			t.Errorf("%s: got %d new signatures, want %d", c.name, got, c.want)
		}
	}
}

func TestSignatureRenewal(t *testing.T) {
	now := date(2027, 1, 1)
	early := map[time.Time]bool{}
	for _, origin := range []string{"example.com", "example.org", "example.net", "dev"} {
		unsigned := compose(t, origin, 1, nil)
		z := sign(t, dnssec.ServedZone{}, unsigned, now)
		at := z.RenewAt()
		if at.Before(now.AddDate(0, 0, 7)) || at.After(now.AddDate(0, 0, 9)) {
			t.Errorf("%s: renewed at %s, want 7 to 9 days after %s", origin, at, now)
		}
		early[at] = true
		if again := sign(t, z, unsigned, at.Add(-time.Second)); newSignatures(z, again) != 0 {
			t.Errorf("%s: a signature was renewed too early", origin)
		}
		if again := sign(t, z, unsigned, at); !again.RenewAt().After(at) {
			t.Errorf("%s: signed again at %s, but due again at %s", origin, at, again.RenewAt())
		}
		changed := compose(t, origin, 2, []dnszone.RR{fromText(t, "www."+origin+". 300 A 192.0.2.1")})
		if later := sign(t, z, changed, now.AddDate(0, 0, 3)); !later.RenewAt().Equal(at) {
			t.Errorf("%s: a change moved the renewal of the other records from %s to %s", origin, at, later.RenewAt())
		}
		if again := sign(t, z, unsigned, now.Add(-2*time.Hour)); newSignatures(z, again) == 0 {
			t.Errorf("%s: signatures from the future were reused", origin)
		}
	}
	if len(early) == 1 {
		t.Error("all zones are renewed at the same time")
	}
	if at := compose(t, "example.com", 1, nil).RenewAt(); !at.IsZero() {
		t.Errorf("an unsigned zone is renewed at %s", at)
	}
}

func TestNewKeySignsEverything(t *testing.T) {
	now := date(2027, 1, 1)
	key := zoneKey(t, "example.com")
	twin := key.DNSKEY() // the same sum, so the same tag, but another key
	twin.Data = twin.Data[:4] + twin.Data[6:8] + twin.Data[4:6] + twin.Data[8:]
	other, err := dnssec.DeriveKey(testMaster, "example.com", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		rrs  []dnszone.RR // already in the zone
		key  dnssec.Key
	}{
		{"the next generation", nil, other},
		{"the next generation, shown before", []dnszone.RR{other.DNSKEY()}, other},
		{"a key with the tag of another", []dnszone.RR{twin}, key},
	} {
		next := compose(t, "example.com", 1, c.rrs)
		old := sign(t, dnssec.ServedZone{}, next, now)
		again, err := dnssec.Sign(old, next, dnssec.Signing{Keys: []dnssec.Key{c.key}, Now: now.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		for _, rr := range again.RRs {
			if rr.Type == dns.TypeRRSIG && slices.Contains(old.RRs, rr) {
				t.Errorf("%s: an old signature was reused: %v", c.name, toLibrary(t, rr))
			}
		}
	}
}

func TestSignRefuses(t *testing.T) {
	now := date(2027, 1, 1)
	z := compose(t, "example.com", 1, nil)
	bad := dnssec.ServedZone{Origin: z.Origin, RRs: append(slices.Clone(z.RRs), dnszone.RR{Owner: strings.Repeat("a", 64) + ".example.com", Type: dns.TypeA})}
	for _, c := range []struct {
		name string
		zone dnssec.ServedZone
		key  dnssec.Key
	}{
		{"no key", z, dnssec.Key{}},
		{"the key of another zone", z, zoneKey(t, "example.org")},
		{"no records", dnssec.ServedZone{Origin: "example.com"}, zoneKey(t, "example.com")},
		{"no SOA", dnssec.ServedZone{Origin: "example.com", RRs: z.RRs[1:]}, zoneKey(t, "example.com")},
		{"a signed zone", sign(t, dnssec.ServedZone{}, z, now), zoneKey(t, "example.com")},
		{"a name too long", bad, zoneKey(t, "example.com")},
	} {
		if _, err := dnssec.Sign(dnssec.ServedZone{}, c.zone, dnssec.Signing{Keys: []dnssec.Key{c.key}, Now: now}); err == nil {
			t.Errorf("%s: it was signed", c.name)
		}
	}
}

func TestSignDoesNotModifyArguments(t *testing.T) {
	now := date(2027, 1, 1)
	next := compose(t, "example.com", 2, tenRecords(t))
	next.RRs = slices.Grow(next.RRs, 100) // spare capacity that must not be written to
	before := slices.Clone(next.RRs[:cap(next.RRs)])
	prev := sign(t, dnssec.ServedZone{}, next, now)
	slices.Reverse(prev.RRs) // a store may return them in any order
	kept := slices.Clone(prev.RRs)
	if again := sign(t, prev, next, now.Add(time.Hour)); newSignatures(prev, again) != 0 {
		t.Error("the order of the previous zone affects the result")
	}
	if !slices.Equal(before, next.RRs[:cap(next.RRs)]) || !slices.Equal(kept, prev.RRs) {
		t.Error("an argument was changed")
	}
}

// The error of an algorithm that is not supported lists those that are.
func TestUnsupportedAlgorithm(t *testing.T) {
	_, err := dnssec.ParseDS([]dnssec.DS{{KeyTag: 1, Algorithm: 5, DigestType: 2, Digest: strings.Repeat("0", 64)}})
	if err == nil || err.Error() != "VALIDATION_ERROR: ds: algorithm 5 is none of 8, 10, 13, 14, 15 and 16" {
		t.Errorf("got %v", err)
	}
}
