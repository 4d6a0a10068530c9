package dnszone

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const locForm = "a LOC record holds latitude, longitude, altitude and optionally size and precisions, such as 52 31 12.3 N 13 24 36.1 E 34m"

// locPattern is the text form of RFC 1876, 3, which the library's parser reads too
// generously.
var locPattern = regexp.MustCompile(
	`^(?i:([0-9]{1,2})( [0-9]{1,2}( [0-9]{1,2}(\.[0-9]{1,3})?)?)? [NS] ([0-9]{1,3})( [0-9]{1,2}( [0-9]{1,2}(\.[0-9]{1,3})?)?)? [EW] -?[0-9]{1,8}(\.[0-9]{1,2})?m?( [0-9]{1,8}(\.[0-9]{1,2})?m?){0,3})$`)

// readLOC parses the value of a LOC record (RFC 1876).
func readLOC(f []field) (string, error) {
	words := make([]string, len(f))
	for i, part := range f {
		if part.quoted || part.param {
			return "", errors.New(locForm)
		}
		words[i] = strings.ToUpper(part.text)
	}
	value := strings.Join(words, " ")
	if !locPattern.MatchString(value) {
		return "", errors.New(locForm + ", not " + deed.Quoted(value))
	}
	north := slices.IndexFunc(words, func(w string) bool { return w == "N" || w == "S" })
	east := slices.IndexFunc(words, func(w string) bool { return w == "E" || w == "W" })
	meters, err := strconv.ParseFloat(strings.TrimSuffix(words[east+1], "M"), 64)
	if err != nil || meters < minAltitude || meters > maxAltitude {
		return "", errors.New(locForm + ", not " + deed.Quoted(words[east+1]) + ": the altitude is from -100000.00m to 42849672.95m")
	}
	sizes := strings.ReplaceAll(strings.Join(words[east:], " "), "M", "m")
	return withSeconds(words[:north]) + " " + words[north] + " " + withSeconds(words[north+1:east]) + " " + sizes, nil
}

// withSeconds returns degrees, minutes and seconds, which the library's parser all needs. It
// cuts the seconds off after thousandths, and as a binary fraction 1.001 is less than that:
// with another digit it is not.
func withSeconds(angle []string) string {
	angle = append(slices.Clone(angle), "0", "0")[:3]
	whole, fraction, _ := strings.Cut(angle[2], ".")
	angle[2] = whole + "." + (fraction + "000")[:3] + "5"
	return strings.Join(angle, " ")
}

// An altitude is 32 bits of centimeters, from 100,000 m below the sea on (RFC 1876, 2). The
// library's parser takes one outside of that for another one.
const (
	minAltitude = -100_000
	maxAltitude = 42_849_672.95
)

func showLOC(rr dns.RR) string { return dataText(rr) }

// dataText returns the data of a record as the library writes it.
func dataText(rr dns.RR) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(rr.String(), rr.Header().String())), " ")
}

// readURI parses the value of a URI record (RFC 7553).
func readURI(f []field) (string, error) {
	const form = `a URI record holds priority, weight and the URI in quotes, such as 10 1 "https://www.example.com/path"`
	if len(f) != 3 || f[2].param {
		return "", errors.New(form)
	}
	numbers, err := readNumbers(f[:2], 65535, 65535)
	if err != nil {
		return "", errors.New(form + ": " + err.Error())
	}
	scheme, rest, ok := strings.Cut(f[2].text, ":")
	if !ok || rest == "" || !schemePattern.MatchString(scheme) || !printable(f[2].text) || strings.ContainsAny(f[2].text, ` "\<>`) {
		return "", errors.New(form + ", not " + deed.Quoted(f[2].text))
	}
	return numbers + " " + quoted(f[2].text), nil
}

var schemePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

func showURI(rr dns.RR) string {
	u := rr.(*dns.URI)
	return fmt.Sprintf("%d %d %s", u.Priority, u.Weight, quoted(u.Target))
}

// readOPENPGPKEY parses the value of an OPENPGPKEY record (RFC 7929).
func readOPENPGPKEY(f []field) (string, error) {
	const form = "an OPENPGPKEY record holds a public key in base64"
	var b strings.Builder
	for _, part := range f { // long keys are often split into groups
		if part.quoted || part.param {
			return "", errors.New(form)
		}
		b.WriteString(part.text)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(b.String())
	if err != nil || len(key) == 0 {
		return "", errors.New(form + ", not " + deed.Quoted(b.String()))
	}
	return b.String(), nil
}

func showOPENPGPKEY(rr dns.RR) string { return rr.(*dns.OPENPGPKEY).PublicKey }

func readSMIMEA(f []field) (string, error) { return smimeaForm.read(f) }

func showSMIMEA(rr dns.RR) string {
	s := rr.(*dns.SMIMEA)
	return fmt.Sprintf("%d %d %d %s", s.Usage, s.Selector, s.MatchingType, strings.ToLower(s.Certificate))
}

// checkDNAMEs refuses names below a DNAME (RFC 6672, 2.4): a resolver would never see
// them, and secondaries refuse such a zone.
func checkDNAMEs(z Zone, refuse func(host string, err error)) {
	owners := map[string]bool{}
	for _, r := range z.Records {
		if r.Type == "DNAME" {
			owners[r.Host] = true
		}
	}
	if len(owners) == 0 {
		return
	}
	for _, r := range z.Records {
		above, found := r.Host, r.Host != "@"
		for found {
			if _, above, found = strings.Cut(above, "."); !found {
				above = "@"
			}
			if owners[above] {
				refuse(r.Host, deed.Invalid("host", "%s is below the DNAME at %s, which redirects all names below it: delete one of them",
					deed.Quoted(absolute(r.Host, z.Name)), deed.Quoted(absolute(above, z.Name))))
				break
			}
		}
	}
}
