package dnszone

import (
	"errors"
	"net/netip"
	"strings"
	"unicode"

	"github.com/miekg/dns"
	"golang.org/x/net/idna"

	"deed.example/deed"
)

// maxNameLength is the maximum length of a name without its trailing dot (RFC 1035,
// 2.3.4: 255 octets in wire format).
const maxNameLength = 253

// relativeHost returns the host in the form that zones use: relative, lowercase
// A-labels, "@" for the apex. A name that ends in the zone is accepted.
func relativeHost(s string, zone deed.Name) (string, error) {
	if s == "@" {
		return s, nil
	}
	name, absolute := strings.CutSuffix(s, ".")
	name, err := foldLabels(name)
	if err != nil {
		return "", deed.Invalid("host", "%s cannot be a host: %v", deed.Quoted(s), err)
	}
	host, inside := cutZone(name, zone)
	if absolute && !inside {
		return "", deed.Invalid("host", "%s is not in %s: write a name below it, such as www", deed.Quoted(s), zone)
	}
	if _, again := cutZone(host, zone); again {
		return "", deed.Invalid("host", "%s has the zone twice: write only the part before %s", deed.Quoted(s), zone)
	}
	switch {
	case strings.Contains(strings.TrimPrefix(host, "*"), "*") || host[0] == '*' && len(host) > 1 && host[1] != '.':
		return "", deed.Invalid("host", "%s has a misplaced *: it must be the whole first label, as in *.example", deed.Quoted(s))
	case len(host)+1+len(zone) > maxNameLength && host != "@":
		return "", deed.Invalid("host", "%s results in a name of more than %d characters: shorten it", deed.Quoted(s), maxNameLength)
	}
	return host, nil
}

// cutZone returns the name relative to the zone and true, or the name and false
// when it is outside of the zone.
func cutZone(name string, zone deed.Name) (string, bool) {
	if name == string(zone) {
		return "@", true
	}
	return strings.CutSuffix(name, "."+string(zone))
}

// absolute returns the full name of a host, without the trailing dot.
func absolute(host string, zone deed.Name) string {
	if host == "@" {
		return string(zone)
	}
	return host + "." + string(zone)
}

// dots are the characters that are equivalent to a dot between labels (UTS 46,
// 4.5).
var dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// foldLabels returns the name with every label in lowercase ASCII. Labels are
// letters, digits, "_" and "-", or a "*" whose position the caller checks.
func foldLabels(name string) (string, error) {
	if len(name) > deed.MaxNameText {
		return "", errors.New("it is too long")
	}
	labels := strings.Split(dots.Replace(name), ".")
	for i, label := range labels {
		ascii, err := foldLabel(label)
		if err != nil {
			return "", err
		}
		labels[i] = ascii
	}
	return strings.Join(labels, "."), nil
}

func foldLabel(label string) (string, error) {
	ascii := strings.ToLower(label)
	if strings.IndexFunc(label, func(r rune) bool { return r > '~' }) >= 0 {
		var err error
		if ascii, err = idna.Lookup.ToASCII(label); err != nil {
			return "", errors.New("it is not a valid internationalised label")
		}
	}
	switch {
	case ascii == "":
		return "", errors.New("a label is empty")
	case len(ascii) > 63:
		return "", errors.New("a label has at most 63 characters")
	case !labelCharacters(ascii):
		return "", errors.New("labels are made of letters, digits, - and _")
	}
	return ascii, nil
}

func labelCharacters(s string) bool {
	for _, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '*' {
			return false
		}
	}
	return true
}

// checkPunycode refuses labels that begin like an internationalised one and are not
// (RFC 5891, 4.4): no client can show or look them up. Only new records are checked,
// not those that are served already.
func (r Record) checkPunycode(t recordType) error {
	if label := brokenLabel(r.Host); label != "" {
		return deed.Invalid("host", "%s begins with xn-- but is not punycode: write the name in Unicode", deed.Quoted(label))
	}
	names := r.Value
	switch {
	case t.name == TypeForward:
		names = r.redirectHost()
	case t.code == dns.TypeTXT || t.read == nil && t.name != TypeAlias:
		return nil
	}
	for word := range strings.FieldsSeq(names) {
		if label := brokenLabel(word); label != "" && !strings.Contains(word, `"`) {
			return deed.Invalid("value", "%s begins with xn-- but is not punycode: write the name in Unicode", deed.Quoted(label))
		}
	}
	return nil
}

// brokenLabel returns the first label of the name that is not punycode although it
// begins with xn--, or "".
func brokenLabel(name string) string {
	for label := range strings.SplitSeq(name, ".") {
		if !strings.HasPrefix(label, "xn--") {
			continue
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil || decoded == label || strings.IndexFunc(decoded, func(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200d' }) >= 0 {
			return label
		}
		if back, err := idna.Punycode.ToASCII(decoded); err != nil || back != label {
			return label
		}
	}
	return ""
}

// A nameRule says which names are allowed inside a value, beyond letters, digits
// and hyphens.
type nameRule struct {
	underscore bool // _dmarc.example.com
	root       bool // "." is allowed
}

// target returns the canonical form of a name inside a value: absolute, lowercase
// A-labels, without the trailing dot. It is never relative: a single label is far
// more often a mistake than a top-level domain.
func (rule nameRule) target(s string) (string, error) {
	if s == "." && rule.root {
		return s, nil
	}
	if _, err := netip.ParseAddr(strings.TrimSuffix(s, ".")); err == nil {
		return "", errors.New(deed.Quoted(s) + " is an address: write the name of a host, such as host.example.com")
	}
	name, err := foldLabels(strings.TrimSuffix(s, "."))
	if err != nil {
		return "", errors.New(deed.Quoted(s) + " is not the name of a host: " + err.Error())
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == name:
		return "", errors.New(deed.Quoted(s) + " is not a full name: write all of it, such as host.example.com")
	case len(name) > maxNameLength:
		return "", errors.New("the name has more than 253 characters: shorten it")
	case strings.Contains(name, "*"):
		return "", errors.New(deed.Quoted(s) + " is a wildcard: write the name of one host")
	case deed.Digits(last):
		return "", errors.New(deed.Quoted(s) + " ends in a number: write the name of a host, such as host.example.com")
	case !rule.underscore && !strictHost(name):
		return "", errors.New(deed.Quoted(s) + " is not the name of a host: labels are letters, digits and inner hyphens")
	}
	return name, nil
}

// strictHost reports whether a name has only the characters of host names (RFC
// 1123, 2.1).
func strictHost(name string) bool {
	dotted := "." + name + "."
	return !strings.Contains(name, "_") && !strings.Contains(dotted, ".-") && !strings.Contains(dotted, "-.")
}
