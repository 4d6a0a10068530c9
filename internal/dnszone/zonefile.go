package dnszone

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
)

// maxZoneFile is the maximum size of a zone file, in bytes.
const maxZoneFile = 1 << 20

// FormatZone returns the zone as a zone file (RFC 1035, 5) that ParseZoneFile can
// parse. Its nameservers are managed by the service, so they are only in comments.
func FormatZone(z Zone, nameservers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; %s, revision %d\n$ORIGIN %s.\n$TTL %d\n", z.Name, z.Serial, z.Name, defaultTTL)
	for _, ns := range nameservers {
		fmt.Fprintf(&b, "; @\tIN\tNS\t%s.\n", strings.TrimSuffix(ns, "."))
	}
	records := slices.Clone(z.Records)
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(apexFirst(a.Host), apexFirst(b.Host)), cmp.Compare(a.Type, b.Type))
	})
	for _, r := range records {
		fmt.Fprintf(&b, "%s\t%d\tIN\t%s\t%s\n", r.Host, r.TTL, r.Type, r.zoneFileData())
	}
	return b.String()
}

func apexFirst(host string) string {
	if host == "@" {
		return ""
	}
	return host
}

// zoneFileData returns the data of a canonical record in zone file format: names end
// in a dot, and texts are quoted.
func (r Record) zoneFileData() string {
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
	case "CNAME", "NS", "PTR", "SRV", "NAPTR": // the name comes last
		return dotted(r.Value)
	case "HTTPS", "SVCB":
		parts := strings.SplitN(r.Value, " ", 3)
		parts[1] = dotted(parts[1])
		return strings.Join(parts, " ")
	}
	return r.Value
}

func dotted(name string) string { return strings.TrimSuffix(name, ".") + "." }

// ParseZoneFile parses the records of a zone file, in canonical form and without
// IDs. The SOA, the NS records at the apex and the records of another signer are
// skipped: the service generates its own. Duplicate records count once (RFC 2181,
// 5).
//
// It fails with CodeValidation and the line number at the first record that is
// invalid in the zone, and at $INCLUDE and $GENERATE.
func ParseZoneFile(zone deed.Name, r io.Reader) ([]Record, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxZoneFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the zone file of %s: %w", zone, err)
	}
	if len(text) > maxZoneFile {
		return nil, deed.Invalid("body", "a master file has at most %d bytes: import it in parts", maxZoneFile)
	}
	p := zoneFileParser{zone: zone, origin: string(zone), ttl: -1, seen: map[dataKey]bool{}}
	s := zoneFileScanner{rest: strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n"), line: 1}
	for {
		entry, err := s.next()
		if errors.Is(err, io.EOF) {
			return p.records, nil
		}
		if err == nil {
			err = p.entry(entry)
		}
		if err != nil {
			return nil, atLine(entry.line, err)
		}
	}
}

// atLine adds the line number to an error.
func atLine(line int, err error) error {
	reason := err.Error()
	if e, ok := errors.AsType[*deed.Error](err); ok {
		reason = e.Message
		if e.Hint != "" {
			reason += ": " + e.Hint
		}
	}
	return deed.Invalid(fmt.Sprintf("line %d", line), "%s", reason)
}

// A zoneFileParser converts the entries of a zone file to records.
type zoneFileParser struct {
	zone    deed.Name
	origin  string // without the trailing dot; "" for the root
	owner   string // the previous one, absolute with the trailing dot
	ttl     int    // of $TTL, or else of the previous record; -1 before either
	fixed   bool   // there was a $TTL
	seen    map[dataKey]bool
	records []Record
}

func (p *zoneFileParser) entry(e zoneFileEntry) error {
	words := e.words
	if !e.indented && strings.HasPrefix(words[0], "$") {
		return p.directive(words)
	}
	if !e.indented {
		p.owner = p.whole(words[0])
		words = words[1:]
	}
	if p.owner == "" {
		return errors.New("the first record has no host")
	}
	ttl, kind, data, err := p.head(words)
	if err != nil {
		return err
	}
	host, err := relativeHost(p.owner, p.zone)
	if err != nil {
		return err
	}
	if host == "@" && (kind == "SOA" || kind == "NS") || slices.Contains(signerTypes, kind) {
		return nil
	}
	return p.record(Record{Type: kind, Host: host, TTL: ttl}, data)
}

// signerTypes are the types that a signer adds to a zone; the service adds its own.
var signerTypes = []string{"RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDNSKEY", "CDS", "ZONEMD"}

// record adds one record whose data is still in zone file format.
func (p *zoneFileParser) record(r Record, data []string) error {
	t, err := recordTypeOf(r.Type)
	if err != nil {
		return err
	}
	if err := checkTTL(r.TTL); err != nil {
		return err
	}
	if r.Value, r.Distance, err = p.value(t.name, data); err != nil {
		return err
	}
	if r, err = r.Canonical(p.zone); err != nil {
		return err
	}
	key := r.dataKey()
	if p.seen[key] {
		return nil
	}
	if len(p.records) == maxRecords {
		return fmt.Errorf("there are more than %d records, the maximum of a zone", maxRecords)
	}
	p.seen[key] = true
	p.records = append(p.records, r)
	return nil
}

// value returns the data in the format of Canonical.
func (p *zoneFileParser) value(kind string, data []string) (value string, distance *int, err error) {
	if len(data) == 0 {
		return "", nil, fmt.Errorf("the %s record has no data", kind)
	}
	data = slices.Clone(data)
	switch kind {
	case "TXT":
		text, err := zoneFileText(data)
		return text, nil, err
	case "CNAME", "NS", "PTR", "MX", "SRV", "NAPTR":
		data[len(data)-1] = p.target(data[len(data)-1])
	case "HTTPS", "SVCB":
		if len(data) > 1 {
			data[1] = p.target(data[1])
		}
	}
	if kind != "MX" {
		return strings.Join(data, " "), nil, nil
	}
	n, err := strconv.ParseUint(data[0], 10, 16)
	if err != nil || len(data) != 2 {
		return "", nil, errors.New("an MX record holds preference and name, such as 10 mail")
	}
	preference := int(n)
	return data[1], &preference, nil
}

// zoneFileText returns the value of a TXT record from its strings in the file.
func zoneFileText(data []string) (string, error) {
	var list []string
	for _, word := range data {
		if strings.Contains(word, `="`) && word[0] != '"' {
			return "", fmt.Errorf("%s has a quote in the middle: put the whole text in quotes", deed.Quoted(word))
		}
		if word[0] == '"' {
			word = word[1 : len(word)-1]
		}
		text, err := unescaped(word)
		if err != nil {
			return "", err
		}
		list = append(list, splitText(text)...)
	}
	return showText(list), checkText(list)
}

// target returns a name inside the data with the trailing dot. An address is
// unchanged, so that it is refused: nobody means 192.0.2.1.example.com.
func (p *zoneFileParser) target(name string) string {
	if _, err := netip.ParseAddr(name); err == nil {
		return name
	}
	return p.whole(name)
}

// whole returns a name of the file with the trailing dot.
func (p *zoneFileParser) whole(name string) string {
	switch {
	case name == "@":
		return p.origin + "."
	case strings.HasSuffix(name, "."):
		return name
	case p.origin == "":
		return name + "."
	}
	return name + "." + p.origin + "."
}
