package dnssec_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// validators are third-party programs that validate a signed zone, with their Debian
// packages. They use the real time.
var validators = []struct {
	program, debian string
	args            func(origin, file string) []string
}{
	{"ldns-verify-zone", "ldnsutils", func(_, file string) []string { return []string{file} }},
	{"dnssec-verify", "bind9-utils", func(origin, file string) []string { return []string{"-z", "-q", "-o", origin, file} }}, // -z: one key for all
}

// eachValidator runs the test with every installed program. validate returns the output
// of the program for a zone and whether it accepts the zone.
func eachValidator(t *testing.T, test func(t *testing.T, validate func(dnssec.ServedZone) (string, bool))) {
	for _, v := range validators {
		t.Run(v.program, func(t *testing.T) {
			path, err := exec.LookPath(v.program)
			if err != nil {
				t.Skipf("%s is not installed: apt-get install %s", v.program, v.debian)
			}
			file := filepath.Join(t.TempDir(), "zone")
			test(t, func(z dnssec.ServedZone) (string, bool) {
				if err := os.WriteFile(file, []byte(zoneFile(t, z)), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(path, v.args(z.Origin, file)...).CombinedOutput()
				return string(out), err == nil
			})
		})
	}
}

func TestValidatorsAcceptSignedZones(t *testing.T) {
	eachValidator(t, func(t *testing.T, validate func(dnssec.ServedZone) (string, bool)) {
		now := time.Now()
		accept := func(name string, z dnssec.ServedZone) {
			if output, ok := validate(z); !ok {
				t.Errorf("%s is refused: %s\n%s", name, output, zoneFile(t, z))
			}
		}
		accept("a parent", sign(t, dnssec.ServedZone{}, parentZone(t), now))
		records := rapid.Custom(randomRecords)
		for seed := range 20 {
			old := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, records.Example(seed)), now.Add(-24*time.Hour))
			accept("a zone", old)
			accept("a changed zone", sign(t, old, compose(t, "example.com", 2, records.Example(seed+1)), now))
		}
	})
}

// The validators reject invalid zones.
func TestValidatorsRefuseBrokenZones(t *testing.T) {
	eachValidator(t, func(t *testing.T, validate func(dnssec.ServedZone) (string, bool)) {
		good := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, tenRecords(t)), time.Now())
		for _, kind := range []uint16{dns.TypeNSEC, dns.TypeRRSIG, dns.TypeDNSKEY} {
			broken := good
			i := slices.IndexFunc(good.RRs, func(rr dnszone.RR) bool { return rr.Type == kind })
			broken.RRs = slices.Delete(slices.Clone(good.RRs), i, i+1)
			if output, ok := validate(broken); ok {
				t.Errorf("a zone without one %s is accepted: %s", dns.TypeToString[kind], output)
			}
		}
		forged := good
		forged.RRs = slices.Clone(good.RRs)
		i := slices.IndexFunc(forged.RRs, func(rr dnszone.RR) bool { return rr.Type == dns.TypeA })
		forged.RRs[i].Data = "\x7f\x00\x00\x01"
		if output, ok := validate(forged); ok {
			t.Errorf("a forged address is accepted: %s", output)
		}
		late := sign(t, dnssec.ServedZone{}, compose(t, "example.com", 1, nil), time.Now().AddDate(0, 0, -15))
		if output, ok := validate(late); ok {
			t.Errorf("signatures that have expired are accepted: %s", output)
		}
	})
}
