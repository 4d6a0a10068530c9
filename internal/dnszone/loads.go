package dnszone

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const (
	typeIPN     = 264
	typeKEYDATA = 65533 // private to BIND
)

// checkLoads refuses what BIND or NSD refuses beyond the standards, with the whole zone. Only
// new records are checked: one that is served already must not keep its zone from being signed.
func (r Record) checkLoads(t recordType) error {
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

// validSubstitution checks the regexp of a NAPTR record: delimiter, expression,
// delimiter, replacement, delimiter, and an optional "i" (RFC 3402, 3.2). Some
// secondaries refuse the whole zone because of an invalid one, and compile the others.
func validSubstitution(s string) bool {
	if s == "" {
		return true
	}
	if strings.IndexByte(`0123456789\i`, s[0]) >= 0 {
		return false
	}
	parts := cutUnescaped(s[1:], s[0])
	if len(parts) != 3 || parts[2] != "" && parts[2] != "i" {
		return false
	}
	tree, err := syntax.Parse(parts[0], syntax.POSIX)
	if err != nil || !plainExpression(parts[0]) || expandedSize(tree) > maxExpandedSize {
		return false
	}
	for i := 0; i < len(parts[1]); i++ {
		if parts[1][i] != '\\' {
			continue
		}
		i++
		if i == len(parts[1]) || deed.Digits(parts[1][i:i+1]) && (parts[1][i] == '0' || int(parts[1][i]-'0') > tree.MaxCap()) {
			return false
		}
	}
	return true
}

// maxExpandedSize limits what an expression is compiled to: a bound repeats what it is about.
const maxExpandedSize = 1000

// expandedSize returns about how many steps the expression is compiled to.
func expandedSize(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n += expandedSize(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(1, tree.Min, tree.Max)
	}
	return n
}

var (
	// bracketPattern is a bracket expression without anything on whose meaning programs
	// differ, such as a range that begins at the end of another.
	bracketPattern = regexp.MustCompile(`^\[\^?\]?(\[:[a-z]+:\]|[^][\\-]-[^][\\-]|[^][\\-])*-?\]`)
	boundPattern   = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
)

// maxBound is the maximum of a bound (POSIX, RE_DUP_MAX).
const maxBound = 255

// plainExpression reports whether a valid expression is one for BIND, too, which is stricter
// than POSIX: no empty alternatives and groups, nothing that is repeated twice, and no
// repeated ^ or $. A secondary refuses the whole zone for any other.
func plainExpression(s string) bool {
	atom, repeatable := false, false // whether something was matched in this alternative, and whether it may be repeated
	for s != "" {
		length := 1
		switch s[0] {
		case '(':
			atom, repeatable = false, false
		case ')', '|':
			if !atom {
				return false
			}
			atom, repeatable = s[0] == ')', s[0] == ')'
		case '^', '$':
			atom, repeatable = true, false
		case '*', '+', '?', '{':
			if s[0] == '{' {
				length = boundLength(s)
			}
			if !repeatable || length == 0 {
				return false
			}
			repeatable = false
		case '[':
			if length = len(bracketPattern.FindString(s)); length == 0 {
				return false
			}
			atom, repeatable = true, true
		case '\\':
			length = min(2, len(s))
			atom, repeatable = true, true
		default:
			atom, repeatable = true, true
		}
		s = s[length:]
	}
	return atom
}

// boundLength returns the length of the bound at the beginning of s, such as {1,2}, or 0.
func boundLength(s string) int {
	bound := boundPattern.FindString(s)
	for number := range strings.SplitSeq(strings.Trim(bound, "{}"), ",") {
		if n, err := strconv.Atoi(number); number != "" && (err != nil || n > maxBound) {
			return 0
		}
	}
	return len(bound)
}
