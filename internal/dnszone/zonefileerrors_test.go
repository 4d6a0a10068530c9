package dnszone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// Every error of a file is reported, each with its line and column.
func TestZoneFileErrors(t *testing.T) {
	file := "$TTL 1h\n" +
		"a\t5\tIN\tA\t192.0.2.1\n" +
		"b A 192.0.2.1\n" +
		"ü A 192.0.2.256\n" +
		"c (\n\tMX\n\t10 192.0.2.1 )\n" +
		"d TXT \"open\n" +
		"e WKS 192.0.2.1\n" +
		"f 1y A 192.0.2.1\n" +
		"$INCLUDE x\n" +
		"g.example.net. A 192.0.2.1\n"
	got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
	coded, ok := errors.AsType[*deed.Error](err)
	if !ok {
		t.Fatalf("got %v, %v", got, err)
	}
	var fields []string
	for _, d := range coded.Details {
		fields = append(fields, d.Field)
	}
	want := []string{
		"line 2, column 3", "line 4, column 5", "line 7, column 2", "line 8, column 7", "line 9, column 3", "line 10, column 3", "line 11, column 1", "line 12, column 1",
	}
	if diff := cmp.Diff(want, fields); diff != "" || !strings.Contains(err.Error(), "the first of 8 errors") {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestZoneFileErrorsAreLimited(t *testing.T) {
	_, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(strings.Repeat("a A x\n", 5000))})
	if coded, ok := errors.AsType[*deed.Error](err); !ok || len(coded.Details) != 100 {
		t.Errorf("got %v, want 100 details", err)
	}
}

// What no record needs is refused before it is read: files of this size took seconds, in
// free dry runs.
func TestZoneFileIsReadInProportion(t *testing.T) {
	for what, file := range map[string]string{
		"fields":     "a TXT " + strings.Repeat("b ", 13_000),
		"duplicates": strings.Repeat("a TXT b\n", 10_001),
	} {
		got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		if deed.CodeOf(err) != deed.CodeValidation || len(got) > 0 {
			t.Errorf("too many %s: got %d records, %v", what, len(got), err)
		}
	}
	got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader("a TXT " + strings.Repeat("b ", 2000) + strings.Repeat("\na TXT c", 9000))})
	if err != nil || len(got) != 2 {
		t.Errorf("as many as a record may have, and duplicates: got %d records, %v", len(got), err)
	}
}

func TestZoneFileClampsTTL(t *testing.T) {
	const file = "a 5 A 192.0.2.1\nb 1w A 192.0.2.1\nc 300 A 192.0.2.1\n"
	got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file), ClampTTL: true})
	want := []string{"A a 192.0.2.1 60 -", "A b 192.0.2.1 86400 -", "A c 192.0.2.1 300 -"}
	if diff := cmp.Diff(want, lines(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestZoneFileGenericForms(t *testing.T) {
	const file = `a CLASS1 TYPE1 \# 4 c0000201
b IN MX \# 9 000a 0161036e657400
c TXT \# 6 0161 03 626364
d TYPE65280 \# ( 3 ab
	cdef )
e TYPE62 \# 4 00000001 ; malformed below
`
	got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file[:strings.Index(file, "e TYPE62")])})
	want := []string{"A a 192.0.2.1 3600 -", "MX b a.net 3600 10", `TXT c "a" "bcd" 3600 -`, `TYPE65280 d \# 3 abcdef 3600 -`}
	if diff := cmp.Diff(want, lines(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)}); err == nil {
		t.Errorf("a CSYNC that is cut off: got %v", got)
	}
}

// Records that cannot coexist, in the file or with those of the zone, are all reported
// with their places in the file.
func TestImportErrorsHavePlaces(t *testing.T) {
	z := zoneOf(t, rec("A", "www", "192.0.2.1"), rec("A", "ok", "192.0.2.1"))
	const text = `ok 300 A 192.0.2.2
www 300 CNAME other.example.net.
a 300 CNAME b
  300 TXT "beside a CNAME"
l1 300 CNAME l2
l2 300 CNAME l1
d 300 DNAME example.net.
x.d 300 A 192.0.2.1
sub 300 DS 1 13 2 ` + "abababababababababababababababababababababababababababababababab\n"
	file, err := dnszone.ReadZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	c := batch(z.Merge(file.Records)...)
	if _, err := c.Apply(z, start); err == nil {
		t.Fatal("it was applied")
	}
	coded, ok := errors.AsType[*deed.Error](file.CheckImport(c, z))
	if !ok {
		t.Fatalf("got %v", file.CheckImport(c, z))
	}
	var got []string
	for _, d := range coded.Details {
		got = append(got, d.Field)
	}
	want := []string{"line 4, column 3", "line 9, column 1", "line 2, column 1", "line 8, column 1", "line 5, column 1", "line 6, column 1"} // by host, then below DNAMEs, then loops
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v\n%s", coded.Details, diff)
	}
	if err := file.CheckImport(batch(z.Merge(file.Records[:1])...), z); err != nil {
		t.Errorf("a good record: got %v", err)
	}
}
