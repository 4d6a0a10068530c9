package dnszone

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Times of the SOA that the service generates, in seconds (RFC 1912, 2.2): a
// secondary that missed a NOTIFY is at most an hour behind, and serves the zone for
// two weeks without the primary, or four days if it is signed: see dnssec.SignedExpire.
const (
	SOARefresh      = 3600
	SOARetry        = 600
	SOAExpire       = 1209600
	SOASignedExpire = 345600
	SOAMinimum      = 300
)

// FormatZone returns the zone as a zone file (RFC 1035, 5) that name servers load
// and ParseZoneFile can parse. Its SOA and the NS records at the apex are those that
// the service serves; ParseZoneFile skips them. Records are in canonical order (RFC 4034,
// 6), so equal zones have equal files.
func FormatZone(z Zone, nameservers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; %s, revision %d\n$ORIGIN %s.\n$TTL %d\n", z.Name, z.Revision, z.Name, defaultTTL)
	if len(nameservers) > 0 {
		first := dotted(nameservers[0])
		_, parent, _ := strings.Cut(first, ".")
		expire := SOAExpire
		if z.Signed {
			expire = SOASignedExpire
		}
		fmt.Fprintf(&b, "@\t%d\tIN\tSOA\t%s hostmaster.%s %d %d %d %d %d\n", defaultTTL, first, parent, z.Serial, SOARefresh, SOARetry, expire, SOAMinimum)
	}
	for _, ns := range slices.Sorted(slices.Values(nameservers)) {
		fmt.Fprintf(&b, "@\t%d\tIN\tNS\t%s\n", defaultTTL, dotted(ns))
	}
	for _, r := range inCanonicalOrder(z) {
		if isSynthetic(r.Type) {
			b.WriteString(syntheticPrefix)
		}
		fmt.Fprintf(&b, "%s\t%d\tIN\t%s\t%s\n", r.Host, r.TTL, r.Type, r.zoneFileData())
	}
	return b.String()
}

// syntheticPrefix begins a line of a zone file with a record that is not in the DNS: a
// comment for name servers, and a record for ParseZoneFile.
const syntheticPrefix = ";deed\t"

// syntheticLine matches syntheticPrefix in a file whose tabs an editor has replaced, too.
var syntheticLine = regexp.MustCompile(`(?m)^;deed[ \t]+`)

// inCanonicalOrder returns the records sorted by host, type and data.
func inCanonicalOrder(z Zone) []Record {
	type keyed struct {
		Record
		labels []string // of the host, the last one first
		data   string
	}
	list := make([]keyed, len(z.Records))
	for i, r := range z.Records {
		list[i].Record = r
		if r.Host != "@" {
			list[i].labels = strings.Split(r.Host, ".")
			slices.Reverse(list[i].labels)
		}
		if rr, err := r.served(z.Name); err == nil { // does not fail for a canonical record
			list[i].data = rr.Data
		}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		return cmp.Or(slices.Compare(a.labels, b.labels), cmp.Compare(a.Type, b.Type), cmp.Compare(a.data, b.data))
	})
	out := make([]Record, len(list))
	for i, k := range list {
		out[i] = k.Record
	}
	return out
}

// maxTag is the length of the longest tag of a CAA record that every server reads; NSD 4.6
// reads no longer one.
const maxTag = 15

// needsGeneric reports whether some name servers do not read the value of a canonical record,
// although they read the same data in the generic form (RFC 3597).
func (r Record) needsGeneric() bool {
	fields := strings.Fields(r.Value)
	switch r.Type {
	case "CAA":
		return len(fields[1]) > maxTag
	case "HTTPS", "SVCB":
		for _, param := range fields[2:] {
			key, value, _ := strings.Cut(param, "=")
			switch {
			case key == "dohpath" || key == "ohttp" || strings.HasPrefix(key, "key"): // one server knows the name of a key, another only its number
				return true
			case key == "mandatory" && r.Type == "HTTPS" && (strings.Contains(value, "port") || strings.Contains(value, "no-default-alpn")):
				return true // these are mandatory anyway (RFC 9460, 9), and NSD 4.12 refuses to read it
			}
		}
	}
	return false
}

// zoneFileData returns the data of a canonical record in zone file format: names end
// in a dot, and texts are quoted.
func (r Record) zoneFileData() string {
	if t, err := recordTypeOf(r.Type); err == nil && r.needsGeneric() {
		if d, err := r.data(t); err == nil { // does not fail for a canonical record
			return showGeneric(d.data)
		}
	}
	switch r.Type {
	case "TXT":
		list, err := readText(r.Value)
		if err != nil {
			list = splitText(r.Value) // does not fail for a canonical record
		}
		parts := make([]string, len(list))
		for i, s := range list {
			parts[i] = quoted(s)
		}
		return strings.Join(parts, " ")
	case "MX":
		return strconv.Itoa(r.preference()) + " " + dotted(r.Value)
	case TypeForward:
		return quoted(r.Value)
	case "CNAME", "DNAME", "NS", "PTR", "SRV", "NAPTR", TypeAlias: // the name comes last
		return dotted(r.Value)
	case "HTTPS", "SVCB":
		parts := strings.Split(r.Value, " ")
		parts[1] = dotted(parts[1])
		return strings.Join(parts, " ")
	}
	return r.Value
}

func dotted(name string) string { return strings.TrimSuffix(name, ".") + "." }
