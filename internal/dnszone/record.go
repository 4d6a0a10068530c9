package dnszone

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// Limits of a TTL, in seconds.
const (
	minTTL     = 60
	MaxTTL     = 86400 // seconds
	defaultTTL = 3600
)

// maxValueText limits the length of a value before parsing: a byte of data takes up
// to four characters as \DDD, plus quotes.
const maxValueText = 5 * maxRecordBytes

// A RecordInput is a record as the caller wrote it.
type RecordInput struct {
	Type, Host, Value string
	TTL               *int // nil for the default
	Distance          *int
	Priority          *int // for an MX a synonym of distance; for an SRV its priority
}

// Record returns the canonical form of the input. It fails as Canonical does.
func (in RecordInput) Record(zone deed.Name) (Record, error) {
	r := Record{Type: in.Type, Host: in.Host, Value: in.Value, Distance: in.Distance, TTL: defaultTTL}
	if in.TTL != nil {
		if err := checkTTL(*in.TTL); err != nil {
			return Record{}, err
		}
		r.TTL = *in.TTL
	}
	return r.withPriority(in.Priority, zone)
}

// A RecordPatch has the new fields of a record; nil fields are unchanged.
type RecordPatch struct {
	Type     *string // may be given, but not changed
	Host     *string
	Value    *string
	TTL      *int
	Distance *int // alone, of an SRV: its new weight
	Priority *int // as in RecordInput
}

// Canonical validates the record as the caller wrote it and returns its canonical
// form: two records have the same canonical form exactly when they are the same in
// the DNS. A TTL of 0 is the default.
//
// It fails with CodeValidation when the record is invalid in the zone, regardless
// of other records.
func (r Record) Canonical(zone deed.Name) (Record, error) {
	t, err := recordTypeOf(r.Type)
	if err != nil {
		return Record{}, err
	}
	numbered := !strings.EqualFold(r.Type, t.name) // TYPE16
	r.Type = t.name
	if r.Host == "" {
		return Record{}, deed.Invalid("host", "is missing: write @ for %s itself or a name below it, such as www", zone)
	}
	if err := checkCharacters("host", r.Host); err != nil {
		return Record{}, err
	}
	if err := checkCharacters("value", r.Value); err != nil {
		return Record{}, err
	}
	if r.Host, err = relativeHost(r.Host, zone); err != nil {
		return Record{}, err
	}
	if err := r.checkPlace(zone); err != nil {
		return Record{}, err
	}
	if r.TTL == 0 {
		r.TTL = defaultTTL
	}
	if err := checkTTL(r.TTL); err != nil {
		return Record{}, err
	}
	if isGeneric(r.Value) && (t.read != nil || t.code == dns.TypeTXT && numbered) {
		if r, err = r.fromGeneric(t); err != nil {
			return Record{}, err
		}
	}
	if r, err = r.withData(t); err != nil {
		return Record{}, err
	}
	if err := r.checkPunycode(t); err != nil {
		return Record{}, err
	}
	if err := r.checkLoads(t); err != nil {
		return Record{}, err
	}
	if (r.Type == "CNAME" || r.Type == TypeAlias) && r.Value == absolute(r.Host, zone) {
		return Record{}, deed.Invalid("value", "%s is the host itself: the record names another one", deed.Quoted(r.Value))
	}
	if r.Type == TypeForward && r.redirectHost() == absolute(r.Host, zone) {
		return Record{}, deed.Invalid("value", "%s is at the host itself: visitors would be redirected for ever", deed.Quoted(r.Value))
	}
	if name := absolute(r.Host, zone); r.Type == "DNAME" && (r.Value == name || strings.HasSuffix(r.Value, "."+name)) {
		return Record{}, deed.Invalid("value", "%s is at or below the host: a DNAME redirects to another part of the DNS", deed.Quoted(r.Value))
	}
	return r, nil
}

// checkPlace refuses types at hosts where they are not allowed.
func (r Record) checkPlace(zone deed.Name) error {
	wildcard := strings.HasPrefix(r.Host, "*")
	switch {
	case r.Type == "CNAME" && r.Host == "@":
		return deed.Invalid("host", "%s itself cannot be a CNAME: write an ALIAS record", zone)
	case r.Type == "NS" && r.Host == "@":
		return deed.WithNext(
			deed.Invalid("host", "the NS records of %s itself are managed by the service: change its name servers instead", zone),
			deed.Next{Action: deed.ActionSetNameservers, Domain: zone})
	case r.Type == "DS" && r.Host == "@":
		return deed.Invalid("host", "the DS of %s itself is at the registry and managed by the service: write one only for a delegated host", zone)
	case wildcard && isSynthetic(r.Type):
		return deed.Invalid("host", "a wildcard cannot have an %s: write one for each host", r.Type)
	case r.Type == TypeForward && strings.Count(absolute(r.Host, zone), ".") >= MaxForwardLabels:
		return deed.Invalid("host", "%s has more than %d labels, so the redirect servers would not find its FORWARD", deed.Quoted(absolute(r.Host, zone)), MaxForwardLabels)
	case wildcard && r.Type == "DNAME": // RFC 4592, 4.4
		return deed.Invalid("host", "a wildcard cannot have a DNAME: write a CNAME")
	case wildcard && (r.Type == "NS" || r.Type == "DS"):
		return deed.Invalid("host", "a wildcard cannot be delegated: write one %s record for each host", r.Type)
	}
	return nil
}

// Update returns the record with the patch applied, in canonical form. A distance
// without a value is the new weight of an SRV; a new value of four fields has its
// own.
//
// It fails with CodeValidation when the patch is empty, has another type, or
// results in a record that Canonical refuses.
func (r Record) Update(p RecordPatch, zone deed.Name) (Record, error) {
	if p.Type != nil && !strings.EqualFold(*p.Type, r.Type) {
		return Record{}, deed.Invalid("type", "cannot be changed from %s: delete this record and add one of another type", r.Type)
	}
	if p.Host == nil && p.Value == nil && p.TTL == nil && p.Distance == nil && p.Priority == nil {
		return Record{}, deed.Invalid("value", "there is nothing to change: write at least one of host, value, ttl and distance")
	}
	if p.Host != nil {
		r.Host = *p.Host
	}
	if p.TTL != nil {
		if err := checkTTL(*p.TTL); err != nil {
			return Record{}, err
		}
		r.TTL = *p.TTL
	}
	switch {
	case p.Value != nil:
		r.Value = *p.Value
		if r.Type == "SRV" && len(strings.Fields(r.Value)) == 4 {
			r.Distance = nil
		}
	case p.Distance != nil && r.Type == "SRV":
		r.Value = withoutWeight(r.Value)
	}
	switch {
	case p.Distance != nil:
		r.Distance = p.Distance
	case p.Priority != nil && r.Type == "MX":
		r.Distance = nil // replaced by the priority
	}
	return r.withPriority(p.Priority, zone)
}

// withoutWeight returns a canonical SRV value without its weight.
func withoutWeight(value string) string {
	f := strings.Fields(value)
	if len(f) != 4 {
		return value
	}
	return f[0] + " " + f[2] + " " + f[3]
}

// withPriority returns the canonical form of r with the priority given by the
// caller.
func (r Record) withPriority(priority *int, zone deed.Name) (Record, error) {
	isMX := strings.EqualFold(r.Type, "MX")
	if priority != nil && isMX && r.Distance == nil {
		r.Distance = priority
	}
	r, err := r.Canonical(zone)
	switch {
	case err != nil || priority == nil:
		return r, err
	case r.Type == "MX" && *priority != *r.Distance:
		return Record{}, deed.Invalid("priority", "it is a synonym of distance, and they differ: write only distance")
	case r.Type == "SRV" && !strings.HasPrefix(r.Value, strconv.Itoa(*priority)+" "):
		return Record{}, deed.Invalid("priority", "it differs from the one in value, %s: write it only there", deed.Quoted(r.Value))
	case r.Type != "MX" && r.Type != "SRV":
		return Record{}, deed.Invalid("priority", "%s records have none: leave it out", r.Type)
	}
	return r, nil
}

func checkTTL(ttl int) error {
	if ttl < minTTL || ttl > MaxTTL {
		return deed.Invalid("ttl", "%d is not from %d to %d seconds", ttl, minTTL, MaxTTL)
	}
	return nil
}

// checkCharacters refuses characters that could end a line or a string in other
// programs: control characters, and bytes that are not UTF-8.
func checkCharacters(field, s string) error {
	if s == "" {
		return deed.Invalid(field, "is missing")
	}
	if len(s) > maxValueText {
		return deed.Invalid(field, "it has %d bytes, the maximum is %d", len(s), maxRecordBytes)
	}
	if !utf8.ValidString(s) || strings.IndexFunc(s, unicode.IsControl) >= 0 {
		return deed.Invalid(field, "%s has control characters or is not UTF-8: write plain text on one line", deed.Quoted(s))
	}
	return nil
}
