package dnszone_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed/internal/dnszone"
)

// Records whose types have a name in zone files and none here.
const namedTypes = `a HINFO "PC" "Linux; (box)"
b RP a.b c.d.example.net.
c CERT PGP 0 0 AAAA
d EUI48 00-00-5e-00-53-2a
e EUI64 00-00-5e-ef-10-00-00-2a
f APL 1:192.168.32.0/21 !1:192.168.38.0/28 2:2001:db8::/32
g SPF "v=spf1 -all" "b"
h AFSDB 1 @
i KX 10 kx
j DHCID ( AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOj
	xfNuVAA2kjEA= )
k NID 10 0014:4fff:ff20:ee64
l L32 10 10.1.2.0
m L64 10 2001:0DB8:1140:1000
n LP 10 l
o MINFO a b
p RT 10 r
q PX 10 a b
r GPOS -32.6882 116.8652 10.0
s CSYNC 66 3 A NS AAAA
t MB mb
u HINFO \# 6 0241410242 42
v RP . .
$ORIGIN sub
w KX 10 kx
`

// They are read as BIND reads them, so that a zone of another service can be imported.
func TestNamedTypesAreReadAsInBIND(t *testing.T) {
	records, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(namedTypes)})
	if err != nil {
		t.Fatal(err)
	}
	var generic strings.Builder
	for _, r := range records {
		generic.WriteString(r.Host + " " + r.Type + " " + r.Value + "\n")
	}
	if got, want := compiled(t, generic.String()), compiled(t, namedTypes); got != want || strings.Count(got, "\n") < 25 {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, file := range []string{"a RP b", "a RP b c d", "a EUI48 x", "a KX b c", "a CERT PGP 0 0 !", "a HINFO", "a WKS 192.0.2.1", "a NULL 1", "a APL 1:x", "a TYPE13 x", "a AFSDB 1 ..", "a OPT x", "a ANY x", "a None x"} {
		_, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		refused(t, file, err)
	}
}

// compiled returns the zone with these records as BIND prints it.
func compiled(t *testing.T, records string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte("$TTL 3600\n$ORIGIN example.com.\n@ SOA a b 1 2 3 4 5\n@ NS ns.example.net.\n"+records), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), installed(t, "named-compilezone"), "-q", "-i", "none", "-o", "-", string(zoneName), file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
