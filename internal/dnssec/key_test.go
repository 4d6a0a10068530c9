package dnssec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

const testMaster = deed.Secret("0123456789abcdef0123456789abcdef")

// The digests were computed by an independent program. They must never change:
// parents hold digests of all keys in use.
func TestKeysAreStable(t *testing.T) {
	for _, c := range []struct {
		origin     string
		generation int
		tag        uint16
		digest     string
	}{
		{"example.com", 0, 103, "a1da415fd8508b7b28ff1adfd3c6876ed697e9d65b57649894f637a5a831d87b"},
		{"EXAMPLE.com", 0, 103, "a1da415fd8508b7b28ff1adfd3c6876ed697e9d65b57649894f637a5a831d87b"},
		{"example.com", 1, 21980, "d21c10256b34d2496542f581d26199719a8a11c19ad57af11fd3bbacbb7419cb"},
		{"example.org", 0, 29251, "3f96d1900326f116216b986354881fd9d69562a9a2857db5e737920b4456227a"},
		{"dev", 0, 29954, "d06fafc978b2d64c6171ac9fced1519aa959c0ff300558d99a371f2db14d3960"},
	} {
		key, err := dnssec.DeriveKey(testMaster, c.origin, c.generation)
		if err != nil {
			t.Fatal(err)
		}
		want := []dnssec.DS{{KeyTag: c.tag, Algorithm: 13, DigestType: 2, Digest: c.digest}}
		if diff := cmp.Diff(want, key.DS()); diff != "" {
			t.Errorf("%s %d (-want +got):\n%s", c.origin, c.generation, diff)
		}
	}
}

func TestDeriveKeyRefuses(t *testing.T) {
	if _, err := dnssec.DeriveKey(testMaster[:31], "example.com", 0); err == nil {
		t.Error("a short master secret was accepted")
	} else if strings.Contains(err.Error(), "0123456789") {
		t.Errorf("the error contains the secret: %v", err)
	}
	for _, origin := range []string{"", "a..b", strings.Repeat("a", 64) + ".com"} {
		if _, err := dnssec.DeriveKey(testMaster, origin, 0); err == nil {
			t.Errorf("%q has a key", origin)
		}
	}
}

func TestKeyRecordsMatchLibrary(t *testing.T) {
	key := zoneKey(t, "example.com")
	dnskey, ok := toLibrary(t, key.DNSKEY()).(*dns.DNSKEY)
	if !ok || dnskey.Flags != 257 || dnskey.Protocol != 3 || dnskey.Algorithm != dns.ECDSAP256SHA256 {
		t.Fatalf("got %v, want a DNSKEY of one key for all", dnskey)
	}
	ds := key.DS()[0]
	if ds.KeyTag != dnskey.KeyTag() {
		t.Errorf("got tag %d, want %d", ds.KeyTag, dnskey.KeyTag())
	}
	if want := dnskey.ToDS(dns.SHA256); ds.Digest != strings.ToLower(want.Digest) {
		t.Errorf("got digest %s, want %s", ds.Digest, want.Digest)
	}
	var got []string
	for _, rr := range key.Announce() {
		got = append(got, toLibrary(t, rr).String())
	}
	want := []string{
		strings.Replace(dnskey.String(), "DNSKEY", "CDNSKEY", 1),
		strings.Replace(dnskey.ToDS(dns.SHA256).String(), "DS", "CDS", 1),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
}

func TestDSRefusesInvalidDigest(t *testing.T) {
	for _, digest := range []string{"", "0", "xy", " 00"} {
		if _, err := (dnssec.DS{Digest: digest}).RR("example.com"); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %v, want %s", digest, err, deed.CodeValidation)
		}
	}
}
