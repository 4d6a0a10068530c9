package dnszone

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// withData returns r with its value and distance in canonical form.
func (r Record) withData(t recordType) (Record, error) {
	rr, err := r.data(t)
	if err != nil {
		return Record{}, err
	}
	if rr.data == "" || len(rr.data) > maxRecordBytes {
		return Record{}, deed.Invalid("value", "it has %d bytes in wire format, the maximum is %d", len(rr.data), maxRecordBytes)
	}
	r.Value, r.Distance = rr.value, nil
	if t.code == dns.TypeMX || t.code == dns.TypeSRV {
		f := strings.Fields(rr.value)
		distance := f[0]
		if t.code == dns.TypeMX {
			r.Value = f[1]
		} else {
			distance = f[1]
		}
		n, err := strconv.Atoi(distance)
		if err != nil {
			return Record{}, fmt.Errorf("%s record %q: %w", t.name, rr.value, err)
		}
		r.Distance = &n
	}
	return r, nil
}

// A datum is the data of one record: in wire format, and as text.
type datum struct {
	data  string
	value string // for an MX it starts with the preference
}

// data returns the canonical data of r, whose other fields are canonical.
func (r Record) data(t recordType) (datum, error) {
	if t.code == dns.TypeTXT {
		if r.Distance != nil {
			return datum{}, noDistance(t)
		}
		list, err := readText(r.Value)
		if err != nil {
			return datum{}, deed.Invalid("value", "%v", err)
		}
		return datum{textData(list), showText(list)}, nil
	}
	if t.synthetic != nil {
		if r.Distance != nil {
			return datum{}, noDistance(t)
		}
		value, err := t.synthetic(r.Value)
		if err != nil {
			return datum{}, deed.Invalid("value", "%v", err)
		}
		return datum{value, value}, nil
	}
	if t.read == nil {
		if r.Distance != nil {
			return datum{}, noDistance(t)
		}
		return t.generic(r.Value)
	}
	fields, err := splitFields(r.Value)
	if err != nil {
		return datum{}, deed.Invalid("value", "%v", err)
	}
	if fields, err = r.withDistance(t, fields); err != nil {
		return datum{}, err
	}
	text, err := t.read(fields)
	if err != nil {
		return datum{}, deed.Invalid("value", "%v", err)
	}
	if t.pack != nil {
		return t.pack(text), nil
	}
	d, err := t.roundTrip(text)
	if err != nil {
		return datum{}, deed.Invalid("value", "%s is not the value of a record of type %s: %v", deed.Quoted(r.Value), t.name, err)
	}
	return d, nil
}

// roundTrip parses the checked text with the library, packs it and unpacks it.
func (t recordType) roundTrip(text string) (datum, error) {
	parsed, err := dns.NewRR(". 0 IN " + t.name + " " + text)
	if err != nil {
		return datum{}, err
	}
	data, err := packData(parsed)
	if err != nil {
		return datum{}, err
	}
	back, err := unpackData(t.code, data)
	if err != nil {
		return datum{}, err
	}
	return datum{data, t.show(back)}, nil
}

func noDistance(t recordType) error {
	return deed.Invalid("distance", "%s records have none: leave it out or write null", t.name)
}

// withDistance inserts the distance into the fields: before the host of an MX, and
// as the weight of an SRV that has only three.
func (r Record) withDistance(t recordType, f []field) ([]field, error) {
	d := r.Distance
	switch {
	case t.code != dns.TypeMX && t.code != dns.TypeSRV:
		if d != nil {
			return nil, noDistance(t)
		}
		return f, nil
	case d != nil && (*d < 0 || *d > 65535):
		return nil, deed.Invalid("distance", "%d is not from 0 to 65535", *d)
	case t.code == dns.TypeMX && d == nil:
		return nil, deed.Invalid("distance", "is missing: an MX record needs its preference from 0 to 65535; the smallest is tried first")
	case t.code == dns.TypeMX:
		return append([]field{{text: strconv.Itoa(*d)}}, f...), nil
	case len(f) == 3 && d == nil:
		return nil, deed.Invalid("distance", "is missing: %s, or priority port target with the weight in distance", srvForm)
	case len(f) == 3:
		return slices.Insert(f, 1, field{text: strconv.Itoa(*d)}), nil
	case len(f) == 4 && d != nil && !sameNumber(f[1].text, *d):
		return nil, deed.Invalid("distance", "it is the weight, which is %s in value: write it only there", deed.Quoted(f[1].text))
	}
	return f, nil
}

func sameNumber(s string, n int) bool {
	other, err := strconv.Atoi(s)
	return err == nil && other == n
}

// packData returns the rdata of a record, without compression.
func packData(rr dns.RR) (string, error) {
	buf := make([]byte, dns.Len(rr)+1)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		return "", err
	}
	return string(buf[end-int(rr.Header().Rdlength) : end]), nil
}

// unpackData unpacks rdata completely.
func unpackData(code uint16, data string) (dns.RR, error) {
	h := dns.RR_Header{Name: ".", Rrtype: code, Class: dns.ClassINET, Rdlength: uint16(len(data))}
	rr, _, err := dns.UnpackRRWithHeader(h, []byte(data), 0)
	return rr, err
}

// RR returns the record as name servers serve it. It fails as Canonical does.
func (r Record) RR(zone deed.Name) (RR, error) {
	r, err := r.Canonical(zone)
	if err != nil {
		return RR{}, err
	}
	return r.served(zone)
}

// served is RR for a canonical record.
func (r Record) served(zone deed.Name) (RR, error) {
	t, err := recordTypeOf(r.Type)
	if err != nil {
		return RR{}, err
	}
	d, err := r.data(t)
	return RR{Owner: absolute(r.Host, zone), Type: t.code, TTL: uint32(r.TTL), Data: d.data}, err
}

// withRdata returns r with the value and distance of the rdata.
func (r Record) withRdata(t recordType, data string) (Record, error) {
	value, err := t.valueOf(data)
	if err != nil {
		return Record{}, deed.Invalid("value", "it is not the data of a %s record: %v", t.name, err)
	}
	r.Value = value
	if t.code == dns.TypeMX {
		preference, name, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(preference)
		if err != nil {
			return Record{}, fmt.Errorf("MX record %q: %w", value, err)
		}
		if r.Distance != nil && *r.Distance != n {
			return Record{}, deed.Invalid("distance", "is %d and the preference in the value is %d: leave it out or write the same", *r.Distance, n)
		}
		r.Value, r.Distance = name, &n
	}
	return r, nil
}

// valueOf returns the value of the rdata.
func (t recordType) valueOf(data string) (string, error) {
	if t.code == dns.TypeTXT {
		list, err := textOf(data)
		return showText(list), err
	}
	if data == "" || len(data) > 65535 {
		return "", fmt.Errorf("there are %d bytes", len(data))
	}
	if t.show == nil {
		return showGeneric(data), nil
	}
	rr, err := unpackData(t.code, data)
	if err != nil {
		return "", err
	}
	return t.show(rr), nil
}

// RRs returns the records of the zone as name servers serve them, in their order,
// without those for ALIAS and FORWARD (see SyntheticRRs).
// All records of one host and type have the smallest TTL among them (RFC 2181,
// 5.2).
func (z Zone) RRs() ([]RR, error) {
	type set struct{ host, kind string }
	ttls := make(map[set]int, len(z.Records))
	for _, r := range z.Records {
		s := set{r.Host, r.Type}
		if ttl, ok := ttls[s]; !ok || r.TTL < ttl {
			ttls[s] = r.TTL
		}
	}
	out := make([]RR, 0, len(z.Records))
	for _, r := range z.Records {
		if isSynthetic(r.Type) {
			continue
		}
		rr, err := r.served(z.Name)
		if err != nil {
			return nil, fmt.Errorf("record %s of %s: %v", r.ID, z.Name, err) // no %w: the error is not about the input of this caller
		}
		rr.TTL = uint32(ttls[set{r.Host, r.Type}])
		out = append(out, rr)
	}
	return out, nil
}
