package dnszone

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const (
	typeCLA     = 263
	typeIPN     = 264
	typeALIAS   = 65401 // private to PowerDNS, which looks the data up
	typeLUA     = 65402 // private to PowerDNS, which runs the data where the operator has enabled that
	typeKEYDATA = 65533 // private to BIND
)

// maxSize is the largest size of a LOC, in meters, that PowerDNS serves as it is: it counts
// centimeters in 32 bits.
const maxSize = 40_000_000

// checkLoadable refuses what BIND, NSD or PowerDNS refuses beyond the standards, with the whole
// zone, or does not serve as it is. Only new records are checked: one that is served already must
// not keep its zone from being signed.
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
	case dns.TypeLOC:
		fields := strings.Fields(r.Value)
		for _, size := range fields[len(fields)-3:] { // and the two precisions
			if meters, err := strconv.ParseFloat(strings.TrimSuffix(size, "m"), 64); err != nil || meters > maxSize {
				return deed.Invalid("value", "%s is more than %dm, the largest size and precision that all name servers serve", deed.Quoted(size), maxSize)
			}
		}
	case dns.TypeCERT:
		if strings.HasPrefix(strings.Fields(r.Value)[2], "0000") {
			return deed.Invalid("value", "it is not the data of a record of type CERT: the type of the certificate, its first two bytes, is not 0")
		}
	case dns.TypeTA, dns.TypeDLV:
		if data, err := readGeneric(r.Value); err != nil || !isDelegationSigner(data) {
			return deed.Invalid("value", "it is not the data of a record of type %s: the digest type is 1, 2 or 4, and the digest has its length", dns.Type(t.code))
		}
	case dns.TypeNSAPPTR:
		return deed.Invalid("type", "TYPE%d, NSAP-PTR, is not supported: NSD 4.12 refuses a zone with one", t.code)
	case typeCLA: // newer versions of NSD check it like a TXT
		if data, err := readGeneric(r.Value); err != nil || !isStrings(data) {
			return deed.Invalid("value", "it is not the data of a record of type TYPE%d, CLA, which consists of strings with their lengths", t.code)
		}
	case typeIPN:
		if data, err := readGeneric(r.Value); err != nil || len(data) != 8 {
			return deed.Invalid("value", "it is not the data of a record of type TYPE%d, IPN, which has 8 bytes", t.code)
		}
	case typeALIAS, typeLUA, typeKEYDATA:
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

// isStrings reports whether the data consists of character-strings (RFC 1035, 3.3).
func isStrings(data string) bool {
	_, err := unpackData(dns.TypeTXT, data)
	return err == nil
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
