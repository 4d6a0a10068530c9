package dnszone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// generic returns the type and the data of a record in the generic form, for a type that has a
// name in zone files and none here, such as HINFO. It fails with cause for any other type.
func (p *zoneFileParser) generic(kind string, data []string, cause error) (t recordType, generic []string, err error) {
	code, known := dns.StringToType[kind]
	if !known || slices.Contains(refusedTypes, code) {
		return t, nil, cause
	}
	if t, err = typeByCode(code); err != nil || len(data) == 0 || isGeneric(data[0]) {
		return t, data, err
	}
	// The words have no newlines, and keep their quotes and escapes.
	line := fmt.Sprintf(". 1 IN %s %s\n", kind, strings.Join(data, " "))
	rr, ok := dns.NewZoneParser(strings.NewReader(line), p.whole("@"), "").Next()
	if !ok {
		return t, nil, fmt.Errorf("it is not the data of a record of type %s", kind)
	}
	packed, err := packData(rr)
	if err != nil {
		return t, nil, fmt.Errorf("it is not the data of a record of type %s", kind)
	}
	return t, strings.Fields(showGeneric(packed)), nil
}
