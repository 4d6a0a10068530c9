package dnszone

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const (
	maxZoneFile       = 1 << 20 // bytes of a zone file
	maxZoneFileErrors = 100     // errors that are reported at once

	// maxRepeated is how many records of a file are read, duplicates included.
	maxRepeated = 10 * maxRecords
)

// A ZoneFile is the input of ParseZoneFile.
type ZoneFile struct {
	Zone     deed.Name
	Text     io.Reader
	ClampTTL bool // a TTL that is too short or too long becomes the nearest allowed one
}

// ParseZoneFile returns the records of ReadZoneFile.
func ParseZoneFile(in ZoneFile) ([]Record, error) {
	f, err := ReadZoneFile(in)
	return f.Records, err
}

// ReadZoneFile parses the records of a zone file, in canonical form and without
// IDs. The SOA, the NS records at the apex and the records of another signer are
// skipped: the service generates its own. Duplicate records count once (RFC 2181,
// 5).
//
// It fails with CodeValidation when there are records that are invalid in the zone,
// or $INCLUDE or $GENERATE; the details have the line and column of each. Whether the
// records can coexist is checked by CheckImport.
func ReadZoneFile(in ZoneFile) (FileRecords, error) {
	text, err := io.ReadAll(io.LimitReader(in.Text, maxZoneFile+1))
	if err != nil {
		return FileRecords{}, fmt.Errorf("read the zone file of %s: %w", in.Zone, err)
	}
	if len(text) > maxZoneFile {
		return FileRecords{}, deed.Invalid("body", "a zone file has at most %d bytes: import it in parts", maxZoneFile)
	}
	p := zoneFileParser{zone: in.Zone, clamp: in.ClampTTL, origin: string(in.Zone), ttl: -1, seen: map[dataKey]bool{}}
	clean := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	s := newZoneFileScanner(syntheticLine.ReplaceAllString(clean, ""))
	var errs zoneFileErrors
	file := FileRecords{hosts: map[string]string{}}
	for {
		entry, err := s.next()
		if errors.Is(err, io.EOF) {
			file.Records = p.records
			return file, errs.join()
		}
		at := entry.end
		if err == nil {
			err = p.entry(entry)
			at = entry.places[min(p.at, len(entry.places)-1)]
		} else {
			s.skipLine()
		}
		if err != nil {
			errs.add(s.position(at), err)
		}
		if errors.Is(err, errTooMany) || len(errs.list) == maxZoneFileErrors {
			return FileRecords{}, errs.join()
		}
		if n := len(p.records); n > len(file.places) {
			file.add(p.records[n-1], s.position(entry.places[0]))
		}
	}
}

// A zoneFileParser converts the entries of a zone file to records.
type zoneFileParser struct {
	zone    deed.Name
	clamp   bool
	origin  string // without the trailing dot; "" for the root
	owner   string // the previous one, absolute with the trailing dot
	ttl     int    // of $TTL, or else of the previous record; -1 before either
	fixed   bool   // there was a $TTL
	seen    map[dataKey]bool
	records []Record
	read    int // records, duplicates included

	at int // index of the word that an error of the current entry is about
}

func (p *zoneFileParser) entry(e zoneFileEntry) error {
	words := e.words
	p.at = 0
	if !e.indented && strings.HasPrefix(words[0], "$") {
		return p.directive(words)
	}
	if len(words) > 3 && deed.Digits(words[1]) && words[2] == "ANY" && words[3] == "TSIG" {
		return nil // dig prints the signatures of a transfer, too
	}
	first := 0
	if !e.indented {
		p.owner = p.whole(words[0])
		first = 1
	}
	if p.owner == "" {
		return errors.New("the first record has no host")
	}
	h, err := p.head(words[first:])
	if err != nil {
		p.at = first + h.data - 1
		return err
	}
	if h.kind == "SOA" && strings.EqualFold(words[0], string(p.zone)) {
		p.owner = string(p.zone) + "." // Cloudflare writes it without the dot
	}
	host, err := relativeHost(p.owner, p.zone)
	if err != nil {
		return err
	}
	if host == "@" && (h.kind == "SOA" || h.kind == "NS") || slices.Contains(signerTypes, h.kind) {
		return nil
	}
	err = p.record(Record{Type: h.kind, Host: host, TTL: h.ttl}, words[first+h.data:])
	p.at = first + h.data
	if coded, ok := errors.AsType[*deed.Error](err); ok && len(coded.Details) > 0 {
		switch coded.Details[0].Field {
		case "host":
			p.at = 0
		case "type":
			p.at = first + h.data - 1
		case "ttl":
			p.at = first + h.ttlAt
		}
	}
	return err
}

// signerTypes are the types that a signer adds to a zone; the service adds its own.
var signerTypes = []string{"RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDNSKEY", "CDS", "ZONEMD"}

var errTooMany = fmt.Errorf("there are more than %d records, the maximum of a zone", maxRecords)

// record adds one record whose data is still in zone file format.
func (p *zoneFileParser) record(r Record, data []string) error {
	if p.read++; p.read > maxRepeated {
		return errTooMany
	}
	if len(data) > 3*maxRecordBytes { // a field is half a byte at least, as a hex digit
		return fmt.Errorf("the %s record has %d fields, more than a record can have", r.Type, len(data))
	}
	t, err := recordTypeOf(r.Type)
	if err != nil {
		if t, data, err = p.generic(r.Type, data, err); err != nil {
			return err
		}
		r.Type = t.name
	}
	if p.clamp {
		r.TTL = min(max(r.TTL, minTTL), MaxTTL)
	}
	if err := checkTTL(r.TTL); err != nil {
		return deed.Invalid("ttl", "%d is not from %d to %d seconds: change it, or import with ttl=clamp", r.TTL, minTTL, MaxTTL)
	}
	if r.Value, r.Distance, err = p.value(t, data); err != nil {
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
		return errTooMany
	}
	p.seen[key] = true
	p.records = append(p.records, r)
	return nil
}

// value returns the data in the format of Canonical.
func (p *zoneFileParser) value(t recordType, data []string) (value string, distance *int, err error) {
	if len(data) == 0 {
		return "", nil, fmt.Errorf("the %s record has no data", t.name)
	}
	if data[0] == `\#` && t.code == dns.TypeTXT {
		return genericText(strings.Join(data, " "))
	}
	if data[0] == `\#` {
		return strings.Join(data, " "), nil, nil
	}
	data = slices.Clone(data)
	switch t.name {
	case "TXT":
		text, err := zoneFileText(data)
		return text, nil, err
	case TypeForward:
		text, err := unquotedWords(data)
		return text, nil, err
	case "CNAME", "DNAME", "NS", "PTR", "MX", "SRV", "NAPTR", TypeAlias:
		data[len(data)-1] = p.target(data[len(data)-1])
	case "HTTPS", "SVCB":
		if len(data) > 1 {
			data[1] = p.target(data[1])
		}
	}
	if t.name != "MX" {
		return strings.Join(data, " "), nil, nil
	}
	n, err := strconv.ParseUint(data[0], 10, 16)
	if err != nil || len(data) != 2 {
		return "", nil, errors.New("an MX record holds preference and name, such as 10 mail")
	}
	preference := int(n)
	return data[1], &preference, nil
}

// genericText returns the value of a TXT record in the generic form. Canonical does
// not know it: there it is a text like any other.
func genericText(generic string) (value string, distance *int, err error) {
	data, err := readGeneric(generic)
	if err != nil {
		return "", nil, err
	}
	list, err := textOf(data)
	return showText(list), nil, err
}

// unquotedWords returns words of the file as one text.
func unquotedWords(data []string) (string, error) {
	out := make([]string, len(data))
	for i, word := range data {
		if len(word) > 1 && word[0] == '"' {
			word = word[1 : len(word)-1]
		}
		text, err := unescaped(word)
		if err != nil {
			return "", err
		}
		out[i] = text
	}
	return strings.Join(out, " "), nil
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
