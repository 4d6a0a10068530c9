package dnszone

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const genericForm = `the generic form of RFC 3597 holds \#, the number of bytes and hex digits, such as \# 4 c0000201`

// genericType returns the type TYPE123. A number with a name of its own stands for
// that type.
func genericType(name string) (recordType, bool, error) {
	digits, ok := strings.CutPrefix(name, "TYPE")
	if !ok || !deed.Digits(digits) {
		return recordType{}, false, nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return recordType{}, true, deed.Invalid("type", "%s is not a type: the largest is TYPE65535", deed.Quoted(name))
	}
	t, err := typeByCode(uint16(n))
	return t, true, err
}

// typeByCode returns the type with this number.
func typeByCode(code uint16) (recordType, error) {
	if i := slices.IndexFunc(recordTypes, func(t recordType) bool { return t.code == code }); i >= 0 && code != 0 {
		return recordTypes[i], nil
	}
	if code == 0 || code == 65535 || code >= 128 && code <= 255 || slices.Contains(refusedTypes, code) {
		return recordType{}, deed.Invalid("type", "%s is managed by the service, obsolete, reserved, or only for queries: leave it out", dns.Type(code))
	}
	if name, ok := uncheckedTypes[code]; ok {
		return recordType{}, deed.Invalid("type", "TYPE%d, %s, is not supported: its data cannot be checked here, and name servers refuse a zone where it is wrong", code, name)
	}
	return recordType{name: "TYPE" + strconv.Itoa(int(code)), code: code}, nil
}

// refusedTypes cannot be written: the service generates them, or they have no place
// in a zone. Types 128 to 255 are for queries (RFC 6895, 3.1).
var refusedTypes = []uint16{
	dns.TypeSOA, dns.TypeMD, dns.TypeMF, dns.TypeNULL, dns.TypeSIG, dns.TypeKEY, dns.TypeNXT, 38 /* A6 */, dns.TypeOPT, dns.TypeRRSIG, dns.TypeNSEC, dns.TypeDNSKEY,
	dns.TypeNSEC3, dns.TypeNSEC3PARAM, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeZONEMD,
}

// uncheckedTypes cannot be written either: BIND or NSD checks their data, and this
// package cannot, so a mistake would keep the whole zone from being transferred.
var uncheckedTypes = map[uint16]string{
	11: "WKS", 19: "X25", 20: "ISDN", 34: "ATMA", 40: "SINK", 45: "IPSECKEY", 55: "HIP", 57: "RKEY", 66: "DSYNC", 259: "DOA", 260: "AMTRELAY", 262: "WALLET",
}

// isGeneric reports whether the value is in the generic form.
func isGeneric(value string) bool { return strings.HasPrefix(value, `\#`) }

// readGeneric returns the rdata of a value in the generic form.
func readGeneric(value string) (string, error) {
	words := strings.Fields(strings.TrimPrefix(value, `\#`))
	if !isGeneric(value) || len(words) == 0 {
		return "", errors.New(genericForm)
	}
	size, err := strconv.ParseUint(words[0], 10, 16)
	if err != nil {
		return "", errors.New(genericForm + ", not " + deed.Quoted(words[0]))
	}
	data, err := hex.DecodeString(strings.Join(words[1:], ""))
	switch {
	case err != nil:
		return "", errors.New(genericForm + ": these are not pairs of hex digits")
	case len(data) != int(size):
		return "", fmt.Errorf("%s: there are %d bytes, not %d", genericForm, len(data), size)
	}
	return string(data), nil
}

// fromGeneric returns the record with the value in the form of its type. Any type may be
// written in the generic form (RFC 3597, 5), but the value of a type that is called TXT is
// text, also if it begins like that.
func (r Record) fromGeneric(t recordType) (Record, error) {
	data, err := readGeneric(r.Value)
	if err != nil {
		return Record{}, deed.Invalid("value", "%v", err)
	}
	return r.withRdata(t, data)
}

func showGeneric(data string) string {
	return strings.TrimSuffix(fmt.Sprintf(`\# %d %x`, len(data), data), " ")
}

// generic returns the data of a type without a format of its own.
func (t recordType) generic(value string) (datum, error) {
	data, err := readGeneric(value)
	if err == nil {
		data, err = checkGeneric(t.code, data)
	}
	if err != nil {
		return datum{}, deed.Invalid("value", "%v", err)
	}
	return datum{data, showGeneric(data)}, nil
}

// checkGeneric returns the canonical form of the data of a type without a format of
// its own. What is malformed is refused where the library knows the type: a secondary
// that knows it would refuse the whole zone.
func checkGeneric(code uint16, data string) (string, error) {
	if data == "" || len(data) > maxRecordBytes {
		return "", fmt.Errorf("it has %d bytes, the maximum is %d and the minimum 1", len(data), maxRecordBytes)
	}
	if size := fixedSizes[code]; size > 0 && len(data) != size || code == dns.TypeCERT && len(data) < 6 {
		return "", fmt.Errorf("it is not the data of a record of type %s, which does not have %d bytes", dns.Type(code), len(data))
	}
	if _, known := dns.TypeToRR[code]; known {
		rr, err := unpackData(code, data)
		if err != nil {
			return "", fmt.Errorf("it is not the data of a record of type %s: %v", dns.Type(code), err)
		}
		if back, err := packData(rr); err != nil || !strings.EqualFold(back, data) {
			return "", fmt.Errorf("it is not the data of a record of type %s", dns.Type(code))
		}
	}
	form, ok := namesIn[code]
	if !ok {
		return data, nil
	}
	lower := strings.ToLower(data[min(form.before, len(data)):])
	rest := lower
	for range form.names {
		n := nameLength(rest)
		if n == 0 {
			return "", fmt.Errorf("it is not the data of a record of type %s: a name in it is malformed", dns.Type(code))
		}
		rest = rest[n:]
	}
	if rest != "" {
		return "", fmt.Errorf("there are bytes after the data of a record of type %s", dns.Type(code))
	}
	return data[:form.before] + lower, nil
}

// fixedSizes are the lengths of types that the library does not check.
var fixedSizes = map[uint16]int{dns.TypeNID: 10, dns.TypeL32: 6, dns.TypeL64: 10, dns.TypeEUI48: 6, dns.TypeEUI64: 8}

// namesIn says which types end in names, and after how many bytes. The canonical
// form of a name is in lower case (RFC 4034, 6.2).
var namesIn = map[uint16]struct{ before, names int }{
	dns.TypeMB: {0, 1}, dns.TypeMG: {0, 1}, dns.TypeMR: {0, 1},
	dns.TypeMINFO: {0, 2}, dns.TypeRP: {0, 2}, dns.TypeAFSDB: {2, 1}, dns.TypeRT: {2, 1}, dns.TypePX: {2, 2}, dns.TypeKX: {2, 1}, dns.TypeLP: {2, 1}, dns.TypeTALINK: {0, 2},
}

// nameLength returns the length of the uncompressed name at the start of data, or 0.
func nameLength(data string) int {
	for i := 0; i < len(data) && i < 255; i += 1 + int(data[i]) {
		if data[i] == 0 {
			return i + 1
		}
		if data[i] > 63 {
			break
		}
	}
	return 0
}
