package dnszone

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const serviceForm = `it holds priority, target and parameters, such as 1 . alpn="h2,h3" or 0 host.example.com`

// readService parses the value of an HTTPS or SVCB record (RFC 9460).
func readService(f []field) (string, error) {
	if len(f) < 2 || f[1].quoted {
		return "", errors.New(serviceForm)
	}
	priority, err := readNumbers(f[:1], 65535)
	if err != nil {
		return "", errors.New(serviceForm + ": " + err.Error())
	}
	target, err := nameRule{underscore: true, root: true}.targetDot(f[1].text)
	if err != nil {
		return "", err
	}
	if priority == "0" && len(f) > 2 {
		return "", errors.New("priority 0 makes an alias, which has no parameters: leave them out or write a priority from 1")
	}
	params, err := readParams(f[2:])
	return priority + " " + target + params, err
}

// readParams parses the parameters of a service. The library's parser checks their
// values, except for what it wrongly accepts.
func readParams(f []field) (string, error) {
	var out strings.Builder
	values := map[string]string{}
	for _, param := range f {
		key, value, _ := strings.Cut(param.text, "=")
		key = paramName(strings.ToLower(key))
		if key == "mandatory" {
			value = paramNames(value)
		}
		if _, twice := values[key]; twice {
			return "", errors.New("the parameter " + deed.Quoted(key) + " is duplicated")
		}
		if param.quoted {
			return "", errors.New("a parameter has the form alpn=h2,h3, without a quote before it")
		}
		if err := checkParam(key, value); err != nil {
			return "", err
		}
		values[key] = value
		out.WriteString(" " + key)
		if value != "" {
			out.WriteString(`="` + value + `"`)
		}
	}
	return out.String(), checkMandatory(values)
}

// sameText are the parameters whose value is the same text under their number (RFC 9460,
// 2.1). Name servers that do not know them by name write them so: BIND 9.18 dohpath.
var sameText = map[string]string{"key2": "no-default-alpn", "key7": "dohpath", "key8": "ohttp"}

func paramName(key string) string { return cmp.Or(sameText[key], key) }

// paramNames replaces the numbers in a list of parameters, such as that of mandatory.
func paramNames(list string) string {
	keys := strings.Split(list, ",")
	for i, key := range keys {
		keys[i] = paramName(key)
	}
	return strings.Join(keys, ",")
}

func checkParam(key, value string) error {
	if !printable(value) || strings.ContainsAny(value, ` "\;`) {
		return fmt.Errorf(`the value of %s has a space, one of " \ ; or a non-ASCII character`, deed.Quoted(key))
	}
	number, numbered := strings.CutPrefix(key, "key")
	check, known := paramChecks[key]
	switch {
	case numbered && deed.Digits(number):
		if n, err := strconv.ParseUint(number, 10, 16); err == nil && dns.SVCBKey(n).String() != key {
			return fmt.Errorf("write %s instead of %s", dns.SVCBKey(n), key)
		}
		return nil // the parser checks the number
	case !known:
		return fmt.Errorf("there is no parameter %s: write one of %s, or key and its number", deed.Quoted(key), strings.Join(slices.Sorted(maps.Keys(paramChecks)), ", "))
	case !check(value):
		return fmt.Errorf("%s cannot have the value %s: write it like %s", key, deed.Quoted(value), paramExamples[key])
	}
	return nil
}

// paramChecks validate the values of parameters.
var paramChecks = map[string]func(value string) bool{
	"alpn":            each(func(s string) bool { return s != "" && len(s) <= 255 }),
	"dohpath":         func(s string) bool { return strings.HasPrefix(s, "/") && strings.Contains(s, "{?dns}") },
	"ech":             isBase64,
	"ipv4hint":        each(isIPv4),
	"ipv6hint":        each(isIPv6),
	"mandatory":       each(func(s string) bool { return s != "" }),
	"no-default-alpn": func(s string) bool { return s == "" },
	"ohttp":           func(s string) bool { return s == "" },
	"port":            isPort,
}

// paramExamples show how each parameter is written.
var paramExamples = map[string]string{
	"alpn":            "alpn=h2,h3",
	"dohpath":         "dohpath=/dns-query{?dns}",
	"ech":             "ech= and base64",
	"ipv4hint":        "ipv4hint=192.0.2.1",
	"ipv6hint":        "ipv6hint=2001:db8::1",
	"mandatory":       "mandatory=alpn",
	"no-default-alpn": "no-default-alpn, without a value",
	"ohttp":           "ohttp, without a value",
	"port":            "port=8443",
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.Strict().DecodeString(s)
	return s != "" && err == nil
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && !a.Is4In6() && a.Zone() == ""
}

// each returns a check of a comma-separated list.
func each(check func(string) bool) func(string) bool {
	return func(list string) bool {
		for s := range strings.SplitSeq(list, ",") {
			if !check(s) {
				return false
			}
		}
		return true
	}
}

// checkMandatory checks the dependencies between parameters (RFC 9460, 7.1.1 and
// 8).
func checkMandatory(values map[string]string) error {
	if _, ok := values["no-default-alpn"]; ok && values["alpn"] == "" {
		return errors.New("no-default-alpn requires alpn")
	}
	list, ok := values["mandatory"]
	if !ok {
		return nil
	}
	keys := strings.Split(list, ",")
	for i, key := range keys {
		if _, there := values[key]; !there || key == "mandatory" || slices.Contains(keys[:i], key) {
			return errors.New("mandatory names " + deed.Quoted(key) + ": it names each of the other parameters once at most")
		}
	}
	return nil
}

func showService(rr dns.RR) string {
	var s dns.SVCB
	switch rr := rr.(type) {
	case *dns.SVCB:
		s = *rr
	case *dns.HTTPS:
		s = rr.SVCB
	}
	var out strings.Builder // of a record with hundreds of parameters
	fmt.Fprintf(&out, "%d %s", s.Priority, undot(s.Target))
	for _, param := range s.Value {
		out.WriteString(" " + param.Key().String())
		if value := param.String(); value != "" {
			out.WriteString(`="` + value + `"`)
		}
	}
	return out.String()
}
