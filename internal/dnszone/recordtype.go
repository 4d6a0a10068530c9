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

// A recordType parses and formats the values of one type of record.
//
// The library's parser does not validate enough: it detects bad hex only when it
// packs, and accepts an address as the host of an MX. So read checks everything
// first and writes the input of the parser, and show formats the value from the
// unpacked record.
type recordType struct {
	name string
	code uint16
	// read returns the checked fields of a value for the parser, with absolute
	// names that end in a dot. Its error says what to write.
	read func(f []field) (string, error)
	// show returns the canonical value of a record of this type.
	show func(rr dns.RR) string
	// pack returns the data of what read has returned, where it is simpler than the parser;
	// else nil.
	pack func(text string) datum
	// synthetic returns the canonical value of a type that is not in the DNS.
	synthetic func(value string) (string, error)
}

// recordTypes are the supported types, in the order of error messages.
var recordTypes = []recordType{
	{name: "A", code: dns.TypeA, read: readA, show: showAddress, pack: packAddress},
	{name: "AAAA", code: dns.TypeAAAA, read: readAAAA, show: showAddress, pack: packAddress},
	{name: "CNAME", code: dns.TypeCNAME, read: nameRule{underscore: true}.read, show: showName},
	{name: "MX", code: dns.TypeMX, read: readMX, show: showMX},
	{name: "TXT", code: dns.TypeTXT}, // text.go; never through the parser
	{name: "NS", code: dns.TypeNS, read: nameRule{}.read, show: showName},
	{name: "SRV", code: dns.TypeSRV, read: readSRV, show: showSRV},
	{name: "CAA", code: dns.TypeCAA, read: readCAA, show: showCAA},
	{name: "HTTPS", code: dns.TypeHTTPS, read: readService, show: showService},
	{name: "SVCB", code: dns.TypeSVCB, read: readService, show: showService},
	{name: "TLSA", code: dns.TypeTLSA, read: readTLSA, show: showTLSA},
	{name: "SSHFP", code: dns.TypeSSHFP, read: readSSHFP, show: showSSHFP},
	{name: "PTR", code: dns.TypePTR, read: nameRule{underscore: true}.read, show: showName},
	{name: "DS", code: dns.TypeDS, read: readDS, show: showDS},
	{name: "NAPTR", code: dns.TypeNAPTR, read: readNAPTR, show: showNAPTR},
	{name: "LOC", code: dns.TypeLOC, read: readLOC, show: showLOC},
	{name: "URI", code: dns.TypeURI, read: readURI, show: showURI},
	{name: "OPENPGPKEY", code: dns.TypeOPENPGPKEY, read: readOPENPGPKEY, show: showOPENPGPKEY},
	{name: "SMIMEA", code: dns.TypeSMIMEA, read: readSMIMEA, show: showSMIMEA},
	{name: "DNAME", code: dns.TypeDNAME, read: nameRule{underscore: true}.read, show: showName},
}

// TypeNames returns the names of the supported types. Others are written TYPE123.
func TypeNames() (names []string) {
	for _, t := range slices.Concat(recordTypes, syntheticTypes) {
		names = append(names, t.name)
	}
	return names
}

// recordTypeOf finds a type by its name in any letter case.
func recordTypeOf(name string) (recordType, error) {
	upper := strings.ToUpper(name)
	i := slices.IndexFunc(recordTypes, func(t recordType) bool { return t.name == upper })
	if i >= 0 {
		return recordTypes[i], nil
	}
	if i := slices.IndexFunc(syntheticTypes, func(t recordType) bool { return t.name == upper }); i >= 0 {
		return syntheticTypes[i], nil
	}
	if t, ok, err := genericType(upper); ok {
		return t, err
	}
	all := TypeNames()
	switch upper {
	case "":
		return recordType{}, deed.Invalid("type", "is missing: write one of %s", strings.Join(all, ", "))
	case "ANAME":
		return recordType{}, deed.Invalid("type", "ANAME is called ALIAS here")
	case "SOA":
		return recordType{}, deed.Invalid("type", "the SOA is managed by the service and changes with every record: leave it out")
	}
	return recordType{}, deed.Invalid("type", "%s is not a type that has a name here (other types are written TYPE123, with a value such as \\# 4 c0000201): it is not one of %s", deed.Quoted(name), strings.Join(all, ", "))
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

// packAddress saves the parser for addresses: most records have one, and all records of a
// zone are composed with every change.
func packAddress(text string) datum {
	return datum{string(netip.MustParseAddr(text).AsSlice()), text}
}

func showAddress(rr dns.RR) string {
	switch rr := rr.(type) {
	case *dns.A:
		a, _ := netip.AddrFromSlice(rr.A.To4()) // four bytes, unpacked from wire format
		return a.String()
	case *dns.AAAA:
		a, _ := netip.AddrFromSlice(rr.AAAA.To16()) // sixteen
		return a.String()
	}
	return ""
}

// read parses a value that is one name.
func (rule nameRule) read(f []field) (string, error) {
	if len(f) != 1 || f[0].quoted {
		return "", errors.New("it holds one name and nothing else, such as host.example.com")
	}
	return rule.targetDot(f[0].text)
}

// targetDot returns the name for the parser, with the trailing dot.
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
	case *dns.DNAME:
		return undot(rr.Target)
	}
	return ""
}

// undot removes the trailing dot of a name that is not the root.
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
		return "", errors.New(`"." means that the host accepts no mail: write it with distance 0`)
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

// readNumbers checks fields that are numbers from 0 to a limit each, and returns
// them joined by spaces.
func readNumbers(f []field, limits ...uint64) (string, error) {
	out := make([]string, len(limits))
	for i, limit := range limits {
		n, err := strconv.ParseUint(f[i].text, 10, 16)
		if err != nil || n > limit || f[i].quoted {
			return "", errors.New(deed.Quoted(f[i].text) + " is not a number from 0 to " + strconv.FormatUint(limit, 10))
		}
		out[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(out, " "), nil
}
