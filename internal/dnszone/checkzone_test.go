package dnszone_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnszone"
)

// BIND and NSD load every exported zone.
func TestExportLoadsInBIND(t *testing.T) {
	exportLoads(t, "named-checkzone", "-i", "none", "-k", "ignore", string(zoneName))
}

func TestExportLoadsInNSD(t *testing.T) { exportLoads(t, "nsd-checkzone", string(zoneName)) }

func exportLoads(t *testing.T, program string, args ...string) {
	path, err := exec.LookPath(program)
	if errors.Is(err, exec.ErrNotFound) {
		path, err = exec.LookPath("/usr/sbin/" + program)
	}
	if err != nil {
		t.Skip(program + " is not installed")
	}
	file := filepath.Join(t.TempDir(), "zone")
	loads := func(fail func(format string, args ...any), z dnszone.Zone) {
		text := dnszone.FormatZone(z, []string{"ns2.example.net", "ns1.example.net"})
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			fail("%v", err)
		}
		if out, err := exec.CommandContext(t.Context(), path, append(slices.Clone(args), file)...).CombinedOutput(); err != nil {
			fail("%s refuses it: %v\n%s\n%s", program, err, out, text)
		}
	}
	sample, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(sampleFile)})
	if err != nil {
		t.Fatal(err)
	}
	loads(t.Fatalf, dnszone.Zone{Name: zoneName, Serial: 7, Records: sample})
	count, types := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		z := genZone(rt)
		for _, r := range z.Records {
			types[r.Type]++
		}
		count++
		loads(rt.Fatalf, z)
	})
	t.Logf("%s loaded %d zones with %v", program, count, types)
}

// The file of a zone does not depend on the order in which its records were added.
func TestExportIsInCanonicalOrder(t *testing.T) {
	recs := []dnszone.Record{
		dist(rec("MX", "@", "b.example.net"), 20), dist(rec("MX", "@", "a.example.net"), 20), dist(rec("MX", "@", "z.example.net"), 5),
		rec("A", "b.a", "192.0.2.10"), rec("A", "b.a", "192.0.2.9"), rec("A", "a", "192.0.2.1"), rec("A", "a-b", "192.0.2.1"), rec("TXT", "z.a", "x"), rec("A", "*", "192.0.2.1"),
	}
	want := "; example.com, revision 7\n$ORIGIN example.com.\n$TTL 3600\n" +
		"@\t3600\tIN\tMX\t5 z.example.net.\n@\t3600\tIN\tMX\t20 a.example.net.\n@\t3600\tIN\tMX\t20 b.example.net.\n" +
		"*\t3600\tIN\tA\t192.0.2.1\n" +
		"a\t3600\tIN\tA\t192.0.2.1\nb.a\t3600\tIN\tA\t192.0.2.9\nb.a\t3600\tIN\tA\t192.0.2.10\nz.a\t3600\tIN\tTXT\t\"x\"\n" +
		"a-b\t3600\tIN\tA\t192.0.2.1\n"
	for range 2 {
		if diff := cmp.Diff(want, dnszone.FormatZone(zoneOf(t, recs...), nil)); diff != "" {
			t.Error(diff)
		}
		slices.Reverse(recs)
	}
}
