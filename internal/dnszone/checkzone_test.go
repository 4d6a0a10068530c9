package dnszone_test

import (
	"fmt"
	"math/rand/v2"
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
	sample, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(sampleFile)})
	if err != nil {
		t.Fatal(err)
	}
	checkZone(t, dnszone.Zone{Name: zoneName, Serial: 7, Records: sample}, program, args...)
	count, types := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		z := genZone(rt)
		for _, r := range z.Records {
			types[r.Type]++
		}
		count++
		checkZone(t, z, program, args...)
	})
	t.Logf("%s loaded %d zones with %v", program, count, types)
}

// Values that some name servers do not read are exported in the generic form, which they
// read: parameters that newer ones know by another name, ones that are mandatory anyway, and
// long tags.
func TestUnusualValuesAreExportedInTheGenericForm(t *testing.T) {
	z := dnszone.Zone{Name: zoneName, Serial: 7}
	for value, generic := range map[string]bool{
		"HTTPS 1 . ohttp": true, "SVCB 1 . key9=a": true, "SVCB 1 . alpn=h2 dohpath=/q{?dns}": true, "HTTPS 1 . alpn=h2 port=1 mandatory=port": true, "HTTPS 1 . alpn=h2 no-default-alpn mandatory=alpn,no-default-alpn": true,
		"SVCB 1 . port=1 mandatory=port": false, "HTTPS 1 . alpn=h2 mandatory=alpn": false, "HTTPS 1 key9.example.net alpn=h2": false,
		"CAA 0 " + strings.Repeat("a", 255) + ` "x"`: true, "CAA 0 " + strings.Repeat("a", 15) + ` "x"`: false,
	} {
		kind, value, _ := strings.Cut(value, " ")
		r, err := rec(kind, fmt.Sprint("u", len(z.Records)), value).Canonical(zoneName)
		if err != nil {
			t.Fatal(err)
		}
		one := dnszone.FormatZone(dnszone.Zone{Name: zoneName, Records: []dnszone.Record{r}}, nil)
		if strings.Contains(one, `\#`) != generic {
			t.Errorf("got %s, want the generic form: %v", one, generic)
		}
		z.Records = append(z.Records, r)
	}
	checkFile(t, z.Records)
	checkZone(t, z, "named-checkzone", "-i", "none", "-k", "ignore", string(zoneName))
	checkZone(t, z, "nsd-checkzone", string(zoneName))
}

// Whatever data is accepted in the generic form, BIND and NSD load, of every type: a
// secondary that knows a type better than we do would refuse the whole zone.
func TestGenericTypesLoad(t *testing.T) {
	for seed := range uint64(4) {
		genericTypesLoad(t, rand.New(rand.NewPCG(1, seed)))
	}
}

func genericTypesLoad(t *testing.T, r *rand.Rand) {
	t.Helper()
	z := dnszone.Zone{Name: zoneName, Serial: 7}
	accepted := map[string]bool{}
	for _, code := range slices.Concat(codesUpTo(400), []int{32768, 32769, 32770, 65280, 65533, 65534}) { // BIND knows TA, DLV and KEYDATA
		for i := range 12 {
			data := make([]byte, []int{1, 2, 3, 4, 5, 8, 16, 20, 24, 33, 64, 100}[i])
			for j := range data {
				data[j] = byte(r.UintN(256) >> r.UintN(8)) // small numbers are more often valid lengths
			}
			rec, err := rec(fmt.Sprintf("TYPE%d", code), fmt.Sprintf("t%d-%d", code, i), fmt.Sprintf(`\# %d %x`, len(data), data)).Canonical(zoneName)
			if err != nil || rec.Type == "CNAME" || rec.Type == "DNAME" || rec.Type == "NS" || rec.Type == "DS" {
				continue
			}
			accepted[rec.Type] = true
			z.Records = append(z.Records, rec)
		}
	}
	for _, args := range [][]string{{"named-checkzone", "-i", "none", "-k", "ignore", string(zoneName)}, {"nsd-checkzone", string(zoneName)}} {
		checkZone(t, z, args[0], args[1:]...)
	}
	t.Logf("%d records of %d types", len(z.Records), len(accepted))
}

func codesUpTo(n int) (codes []int) {
	for code := range n {
		codes = append(codes, code)
	}
	return codes
}

// checkZone has a program load the exported zone.
func checkZone(t *testing.T, z dnszone.Zone, program string, args ...string) {
	t.Helper()
	path := installed(t, program)
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte(dnszone.FormatZone(z, []string{"ns1.example.net"})), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), path, append(slices.Clone(args), file)...).CombinedOutput(); err != nil {
		t.Errorf("%s refuses it: %v\n%s", program, err, out)
	}
}

// installed returns the path of a program, and skips the test if there is none.
func installed(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + program)
	}
	if err != nil {
		t.Skip(program + " is not installed")
	}
	return path
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
