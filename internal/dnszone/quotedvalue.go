package dnszone

import (
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// readCAA parses the value of a CAA record (RFC 8659).
func readCAA(f []field) (string, error) {
	const form = `a CAA record holds flags (0 or 128), tag and value, such as 0 issue "letsencrypt.org"`
	if len(f) != 3 || f[0].quoted || f[1].quoted || f[2].param {
		return "", errors.New(form)
	}
	flags, tag := f[0].text, strings.ToLower(f[1].text)
	switch {
	case flags != "0" && flags != "128":
		return "", errors.New(form + ", not " + deed.Quoted(flags))
	case len(tag) > 255 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		return "", errors.New(form + ": " + deed.Quoted(tag) + " is not a tag of letters and digits")
	case !printable(f[2].text):
		return "", errors.New(form + ": the value has non-ASCII characters")
	}
	return flags + " " + tag + " " + quoted(f[2].text), nil
}

func showCAA(rr dns.RR) string {
	c := rr.(*dns.CAA)
	return fmt.Sprintf("%d %s %s", c.Flag, strings.ToLower(c.Tag), quoted(c.Value)) // the library unpacks this string without escapes
}

// readNAPTR parses the value of a NAPTR record (RFC 3403).
func readNAPTR(f []field) (string, error) {
	const form = `a NAPTR record holds order, preference, "flags", "services", "regexp" and replacement, such as 100 10 "S" "SIP+D2U" "" _sip._udp.example.com`
	if len(f) != 6 || f[5].quoted {
		return "", errors.New(form)
	}
	out, err := readNumbers(f[:2], 65535, 65535)
	if err != nil {
		return "", errors.New(form + ": " + err.Error())
	}
	for _, part := range f[2:5] {
		if !printable(part.text) || len(part.text) > 255 || part.param {
			return "", errors.New(form + ": a string has at most 255 ASCII characters")
		}
		out += " " + quoted(part.text)
	}
	name, err := nameRule{underscore: true, root: true}.targetDot(f[5].text)
	if err != nil {
		return "", err
	}
	if f[4].text != "" && name != "." {
		return "", errors.New("a NAPTR record has a regexp or a replacement, not both: write . for the replacement")
	}
	return out + " " + name, nil
}

func showNAPTR(rr dns.RR) string {
	n := rr.(*dns.NAPTR)
	return fmt.Sprintf("%d %d %s %s %s %s", n.Order, n.Preference,
		requoted(n.Flags), requoted(n.Service), requoted(n.Regexp), undot(n.Replacement))
}

// requoted quotes a string that has the escapes of the library.
func requoted(s string) string {
	text, err := unescaped(s)
	if err != nil {
		text = s // the library's own escapes are valid
	}
	return quoted(text)
}
