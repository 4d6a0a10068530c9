package deed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// A Name is a registrable domain name in canonical form: lowercase A-labels, no
// trailing dot, exactly one label before a public suffix, for example
// "example.com". Create one with ParseName.
type Name string

// A Label is the first label of a name: "example" of "example.com".
type Label string

// A TLD is the suffix that a name is registered under: "com", "co.uk". Create one
// with ParseTLD.
type TLD string

// MaxNameText limits the text that is parsed as a name: 253 characters (RFC 1035,
// 2.3.4), each up to four bytes in UTF-8.
const MaxNameText = 4 * 253

// ParseName returns the canonical form of s. Upper case, one trailing dot and
// Unicode labels are accepted and normalized.
//
// It fails with CodeValidation when s is not a registrable name: invalid labels, an
// address, a host below a registrable name, or a public suffix itself.
func ParseName(s string) (Name, error) {
	ascii, ok := toASCII(s)
	label, suffix, dotted := strings.Cut(ascii, ".")
	if !ok || !dotted || !validTLD(suffix) {
		return "", Invalid("domain", "%s is not a domain name: write label and TLD and nothing else, such as example.com", Quoted(s))
	}
	if err := checkLabel(label); err != nil {
		return "", Invalid("domain", "%s is not a domain name: %v", Quoted(s), err)
	}
	switch public := icannSuffix(ascii); {
	case public == ascii:
		return "", Invalid("domain", "%s is a public suffix, not a name that can be registered", Quoted(s))
	case public != suffix:
		labels := strings.Split(strings.TrimSuffix(ascii, "."+public), ".")
		return "", Invalid("domain", "%s is a host name; the registered name is %s.%s", Quoted(s), labels[len(labels)-1], public)
	}
	return Name(ascii), nil
}

// ParseLabel returns the canonical form of one label: "MÜNCHEN" means
// "xn--mnchen-3ya". It fails with CodeValidation when s is not a label of letters,
// digits and hyphens. Whether a registry sells it depends on the TLD: see ParseName.
func ParseLabel(s string) (Label, error) {
	ascii, ok := toASCII(s)
	if !ok || ascii == "" || len(ascii) > 63 || strings.Contains(ascii, ".") {
		return "", Invalid("label", "%s is not a label of letters, digits and hyphens", Quoted(s))
	}
	return Label(ascii), nil
}

// ParseTLD returns the canonical form of s: "COM", ".com" and "com." mean "com". It
// fails with CodeTLDNotSupported, since no registry sells an invalid TLD.
func ParseTLD(s string) (TLD, error) {
	ascii, ok := toASCII(strings.TrimPrefix(s, "."))
	if !ok || !validTLD(ascii) {
		return "", WithNext(Errorf(CodeTLDNotSupported, "%s is not a TLD", Quoted(s)), Next{Action: ActionListPrices})
	}
	return TLD(ascii), nil
}

// TLD returns everything after the first dot: "com" of "example.com",
// "co.uk" of "example.co.uk".
func (n Name) TLD() TLD {
	_, tld, _ := strings.Cut(string(n), ".")
	return TLD(tld)
}

// Label returns everything before the first dot.
func (n Name) Label() Label {
	label, _, _ := strings.Cut(string(n), ".")
	return Label(label)
}

// Unicode returns the name in its Unicode form: "bücher.com" of
// "xn--bcher-kva.com".
func (n Name) Unicode() string {
	shown, err := idna.ToUnicode(string(n))
	if err != nil || shown == string(n) {
		return string(n) // an invalid label is returned unchanged
	}
	if back, ok := toASCII(shown); !ok || back != string(n) {
		return string(n) // "xn--" alone is decoded to nothing
	}
	return shown
}

// IsIDN reports whether the label is internationalised (an A-label).
func (l Label) IsIDN() bool { return strings.HasPrefix(string(l), "xn--") }

// toASCII converts s to lowercase A-labels without a trailing dot.
func toASCII(s string) (string, bool) {
	if len(s) > MaxNameText || !utf8.ValidString(s) {
		return "", false
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(s, "."))
	if err != nil || len(ascii) > 253 || strings.Contains("."+ascii+".", "..") {
		return "", false
	}
	return ascii, true
}

// validTLD rejects IP addresses: the last label of a name is never a number.
func validTLD(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	return last != "" && len(last) <= 63 && strings.IndexFunc(last, unicode.IsLetter) >= 0
}

// icannSuffix returns the public suffix of name by the ICANN rules only. The list
// also has private suffixes, such as those of hosting providers, which are
// registered like any other name.
func icannSuffix(name string) string {
	for {
		suffix, icann := publicsuffix.PublicSuffix(name)
		_, parent, dotted := strings.Cut(suffix, ".")
		if icann || !dotted {
			return suffix
		}
		name = parent
	}
}
