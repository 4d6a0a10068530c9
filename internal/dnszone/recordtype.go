package dnszone

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// A recordType knows the values of one type of record.
//
// The library's parser is no judge of values: it finds bad hex only when it
// packs, and takes an address for the host of an MX. So read checks everything
// first and writes what is left for the parser, and show writes the value anew
// from what came back from the wire.
type recordType struct {
	name string
	code uint16
	// read returns the checked fields of a value for the parser, names absolute
	// and with the last dot. Its error says what to write.
	read func(f []field) (string, error)
	// show returns the canonical value of a record of this type.
	show func(rr dns.RR) string
}

// recordTypes are the types a caller can write, in the order they are told.
var recordTypes = []recordType{
	{"A", dns.TypeA, readA, showAddress},
	{"AAAA", dns.TypeAAAA, readAAAA, showAddress},
	{"CNAME", dns.TypeCNAME, nameRule{underscore: true}.read, showName},
	{"MX", dns.TypeMX, readMX, showMX},
	{"TXT", dns.TypeTXT, nil, nil}, // text.go; never through the parser
	{"NS", dns.TypeNS, nameRule{}.read, showName},
	{"SRV", dns.TypeSRV, readSRV, showSRV},
	{"CAA", dns.TypeCAA, readCAA, showCAA},
	{"HTTPS", dns.TypeHTTPS, readService, showService},
	{"SVCB", dns.TypeSVCB, readService, showService},
	{"TLSA", dns.TypeTLSA, readTLSA, showTLSA},
	{"SSHFP", dns.TypeSSHFP, readSSHFP, showSSHFP},
	{"PTR", dns.TypePTR, nameRule{underscore: true}.read, showName},
	{"DS", dns.TypeDS, readDS, showDS},
	{"NAPTR", dns.TypeNAPTR, readNAPTR, showNAPTR},
}

// recordTypeOf finds a type by its name in any letter case.
func recordTypeOf(name string) (recordType, error) {
	upper := strings.ToUpper(name)
	i := slices.IndexFunc(recordTypes, func(t recordType) bool { return t.name == upper })
	if i >= 0 {
		return recordTypes[i], nil
	}
	var all []string
	for _, t := range recordTypes {
		all = append(all, t.name)
	}
	switch upper {
	case "":
		return recordType{}, deed.Invalid("type", "is missing: write one of %s", strings.Join(all, ", "))
	case "ALIAS", "ANAME":
		return recordType{}, &deed.Error{
			Code:    deed.CodeValidation,
			Message: "type: " + upper + " is not a type of the DNS",
			Hint:    `write an HTTPS record, such as 0 host.example.net, with A and AAAA records for older clients`,
			Details: []deed.Detail{{Field: "type", Reason: upper + " is not a type of the DNS: write an HTTPS record"}},
		}
	case "SOA":
		return recordType{}, deed.Invalid("type", "the SOA is ours and changes with every record: write none")
	}
	return recordType{}, deed.Invalid("type", "%s is not one of %s", deed.Quoted(name), strings.Join(all, ", "))
}

func readA(f []field) (string, error) {
	if len(f) == 1 && !f[0].quoted {
		if a, err := netip.ParseAddr(f[0].text); err == nil && a.Is4() {
			return a.String(), nil
		}
	}
	return "", errors.New("an A record holds one IPv4 address, such as 192.0.2.1")
}

func readAAAA(f []field) (string, error) {
	if len(f) == 1 && !f[0].quoted {
		if a, err := netip.ParseAddr(f[0].text); err == nil && a.Is6() && a.Zone() == "" {
			return a.String(), nil
		}
	}
	return "", errors.New("an AAAA record holds one IPv6 address without a zone, such as 2001:db8::1")
}

func showAddress(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.A:
		a, _ := netip.AddrFromSlice(rr.A.To4()) // four bytes, having come from the wire
		return a.String()
	case *dns.AAAA:
		a, _ := netip.AddrFromSlice(rr.AAAA.To16()) // sixteen
		return a.String()
	}
	return ""
}

// read reads a value that is one name.
func (rule nameRule) read(f []field) (string, error) {
	if len(f) != 1 || f[0].quoted {
		return "", errors.New("it holds one name and nothing else, such as host.example.com")
	}
	return rule.targetDot(f[0].text)
}

// targetDot returns the name as the parser wants it, with the last dot.
func (rule nameRule) targetDot(s string) (string, error) {
	name, err := rule.target(s)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(name, ".") + ".", nil
}

func showName(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.CNAME:
		return undot(rr.Target)
	case *dns.NS:
		return undot(rr.Ns)
	case *dns.PTR:
		return undot(rr.Ptr)
	}
	return ""
}

// undot takes the last dot off a name that is not the root.
func undot(name string) string {
	if name == "." {
		return name
	}
	return strings.TrimSuffix(name, ".")
}

func readMX(f []field) (string, error) {
	if len(f) != 2 || f[1].quoted {
		return "", errors.New("an MX record holds one name, such as mail.example.com; the preference goes into distance")
	}
	name, err := nameRule{root: true}.targetDot(f[1].text)
	if err != nil {
		return "", err
	}
	if name == "." && f[0].text != "0" {
		return "", errors.New(`"." says that there is no mail here: write it with distance 0`)
	}
	return f[0].text + " " + name, nil
}

func showMX(rr dns.RR) string {
	mx := rr.(*dns.MX)
	return strconv.Itoa(int(mx.Preference)) + " " + undot(mx.Mx)
}

const srvForm = "an SRV record holds priority weight port target, such as 10 60 5060 sip.example.com"

func readSRV(f []field) (string, error) {
	if len(f) != 4 || f[3].quoted {
		return "", errors.New(srvForm)
	}
	numbers, err := readNumbers(f[:3], 65535, 65535, 65535)
	if err != nil {
		return "", errors.New(srvForm + ": " + err.Error())
	}
	name, err := nameRule{root: true}.targetDot(f[3].text)
	return numbers + " " + name, err
}

func showSRV(rr dns.RR) string {
	s := rr.(*dns.SRV)
	return strconv.Itoa(int(s.Priority)) + " " + strconv.Itoa(int(s.Weight)) + " " + strconv.Itoa(int(s.Port)) + " " + undot(s.Target)
}

// readNumbers checks fields that are numbers from 0 to a maximum each, and
// returns them in a row.
func readNumbers(f []field, most ...uint64) (string, error) {
	out := make([]string, len(most))
	for i, limit := range most {
		n, err := strconv.ParseUint(f[i].text, 10, 16)
		if err != nil || n > limit || f[i].quoted {
			return "", errors.New(deed.Quoted(f[i].text) + " is not a number from 0 to " + strconv.FormatUint(limit, 10))
		}
		out[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(out, " "), nil
}
