package dnszone

import (
	"regexp"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const (
	typeIPN     = 264
	typeKEYDATA = 65533 // private to BIND
)

// checkLoadable refuses what BIND or NSD refuses beyond the standards, with the whole zone. Only
// new records are checked: one that is served already must not keep its zone from being signed.
func (r Record) checkLoadable(t recordType) error {
	switch t.code {
	case dns.TypeNAPTR:
		fields, err := splitFields(r.Value)
		if err != nil || len(fields) != 6 {
			return deed.Invalid("value", "%s is not the value of a NAPTR record", deed.Quoted(r.Value)) // does not happen with a canonical value
		}
		if text := fields[4].text; !validSubstitution(text) {
			return deed.Invalid("value", "%s is not a substitution that all name servers take, such as \"!^(.*)$!sip:\\\\1@example.com!i\" with one delimiter three times: write the expression without empty alternatives and groups, double repetitions, repeated ^ or $, and large bounds", deed.Quoted(text))
		}
	case dns.TypeHTTPS, dns.TypeSVCB:
		for param := range strings.FieldsSeq(r.Value) { // no value of a parameter has a space
			if path, ok := strings.CutPrefix(param, `dohpath="`); ok && !validTemplate(strings.TrimSuffix(path, `"`)) {
				return deed.Invalid("value", "%s is not a dohpath that all name servers take: write it like %s, without other braces, and %% only before two hex digits", deed.Quoted(param), paramExamples["dohpath"])
			}
		}
	case dns.TypeTA, dns.TypeDLV:
		if data, err := readGeneric(r.Value); err != nil || !isDelegationSigner(data) {
			return deed.Invalid("value", "it is not the data of a record of type %s: the digest type is 1, 2 or 4, and the digest has its length", dns.Type(t.code))
		}
	case dns.TypeNSAPPTR:
		return deed.Invalid("type", "TYPE%d, NSAP-PTR, is not supported: NSD 4.12 refuses a zone with one", t.code)
	case typeIPN:
		if data, err := readGeneric(r.Value); err != nil || len(data) != 8 {
			return deed.Invalid("value", "it is not the data of a record of type TYPE%d, IPN, which has 8 bytes", t.code)
		}
	case typeKEYDATA:
		return deed.Invalid("type", "TYPE%d is private to a name server: leave it out", t.code)
	}
	return nil
}

var percentPattern = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// validTemplate reports whether a path is a URI template (RFC 6570, 2) whose only variable
// is dns, which is the only one that clients know (RFC 8484, 4.1).
func validTemplate(path string) bool {
	literal := percentPattern.ReplaceAllString(strings.ReplaceAll(path, "{?dns}", ""), "")
	return !strings.ContainsAny(literal, "{}%")
}

// isDelegationSigner reports whether the data is that of a DS record: key tag, algorithm,
// digest type and digest.
func isDelegationSigner(data string) bool {
	const head = 4
	if len(data) < head {
		return false
	}
	size := dsForm.bytes[int(data[head-1])]
	return size > 0 && len(data) == head+size
}
