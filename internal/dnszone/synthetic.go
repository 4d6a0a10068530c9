package dnszone

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// Two types are not in the DNS. Name servers serve addresses in their place: for an
// ALIAS those of another host, which the service looks up, and for a FORWARD those of
// its redirect servers.
const (
	TypeAlias   = "ALIAS"
	TypeForward = "FORWARD"
)

// syntheticTypes have no number and no wire format.
var syntheticTypes = []recordType{
	{name: TypeAlias, synthetic: readAlias},
	{name: TypeForward, synthetic: readForward},
}

// MaxAliases is the maximum number of ALIAS records of a zone: each is looked up as
// often as its target's TTL demands.
const MaxAliases = 10

// MaxForwardLabels is the maximum number of labels of a host with a FORWARD: each name above
// the host may be the one that is registered, so a request is compared with all of them.
const MaxForwardLabels = 10

func readAlias(value string) (string, error) {
	f, err := splitFields(value)
	if err != nil {
		return "", err
	}
	name, err := nameRule{underscore: true}.read(f)
	return undot(name), err
}

const (
	maxForwardURL = 2000 // characters; more than some browsers accept
	forwardForm   = "a FORWARD record holds an address such as https://example.net/page, after 301 if browsers may remember it for good"
)

// readForward returns the canonical form of a redirect: the URL, after "301 " if it is
// permanent.
func readForward(value string) (string, error) {
	status, text, found := strings.Cut(value, " ")
	if !found {
		status, text = "302", value
	}
	u, err := url.Parse(text)
	switch {
	case status != "301" && status != "302" || err != nil || len(text) > maxForwardURL || strings.ContainsAny(text, " \\\"<>^`{|}") || !printable(strings.Replace(text, u.Hostname(), "", 1)):
		return "", errors.New(forwardForm)
	case u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "":
		return "", errors.New(forwardForm + "; without a user or password")
	}
	host, err := (nameRule{}).target(u.Hostname())
	if err != nil {
		return "", err
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return "", errors.New(forwardForm + "; with a port from 1 to 65535, if any")
	}
	u.Host = strings.ToLower(strings.Replace(u.Host, u.Hostname(), host, 1))
	if status == "302" {
		return u.String(), nil
	}
	return status + " " + u.String(), nil
}

// A Forward is a FORWARD record of a host, with its zone.
type Forward struct {
	Record Record
	Name   deed.Name
	Owner  deed.Wallet
}

// Redirect returns the URL and HTTP status of a canonical FORWARD record.
func (r Record) Redirect() (location string, status int) {
	if location, found := strings.CutPrefix(r.Value, "301 "); found {
		return location, 301
	}
	return r.Value, 302
}

// An Alias is what the target of an ALIAS record resolves to.
type Alias struct {
	Host      string // of the record, relative
	Target    string
	Addresses []netip.Addr // sorted
	TTL       int
}

// SyntheticRRs returns what is served for the ALIAS and FORWARD records of the zone: the
// addresses of targets, and those of the redirect servers.
func (z Zone) SyntheticRRs(redirect []netip.Addr, aliases []Alias) (rrs []RR) {
	for _, r := range z.Records {
		addrs, ttl := redirect, r.TTL
		switch r.Type {
		case TypeForward:
		case TypeAlias:
			addrs, ttl = nil, 0
			for _, a := range aliases {
				if a.Host == r.Host && a.Target == r.Value {
					addrs, ttl = a.Addresses, min(a.TTL, r.TTL)
				}
			}
		default:
			continue
		}
		for _, a := range addrs {
			kind := dns.TypeAAAA
			if a = a.Unmap(); a.Is4() {
				kind = dns.TypeA
			}
			rrs = append(rrs, RR{Owner: absolute(r.Host, z.Name), Type: kind, TTL: uint32(max(ttl, minTTL)), Data: string(a.AsSlice())})
		}
	}
	return rrs
}

// CheckForwards refuses new FORWARD records where the service does not redirect.
func CheckForwards(added []Record, served bool) error {
	for _, r := range added {
		if strings.EqualFold(r.Type, TypeForward) && !served {
			return deed.Invalid("type", "FORWARD is not offered here: the service has no redirect servers")
		}
	}
	return nil
}

// checkSynthetic refuses ALIAS and FORWARD records that cannot be served at their host.
func checkSynthetic(host string, count map[string]int) error {
	for _, t := range syntheticTypes {
		switch n := count[t.name]; {
		case n > 1:
			return deed.Invalid("value", "%s has a record of type %s: there is at most one at a host", deed.Quoted(host), t.name)
		case n > 0 && count[TypeAlias]+count[TypeForward]+count["A"]+count["AAAA"] > 1:
			return deed.Invalid("type", "%s gives %s its addresses: delete its A and AAAA records, and have either an ALIAS or a FORWARD", t.name, deed.Quoted(host))
		case n > 0 && count["NS"] > 0:
			return deed.Invalid("type", "%s is delegated by NS records, so an %s there would not be served", deed.Quoted(host), t.name)
		}
	}
	return nil
}

// checkAliases refuses more ALIAS records than a zone may have.
func checkAliases(z Zone) error {
	n := 0
	for _, r := range z.Records {
		if r.Type == TypeAlias {
			n++
		}
	}
	if n > MaxAliases {
		return deed.Invalid("records", "%s would have %d ALIAS records, the maximum is %d", z.Name, n, MaxAliases)
	}
	return nil
}

// isSynthetic reports whether the type is not in the DNS.
func isSynthetic(kind string) bool { return kind == TypeAlias || kind == TypeForward }
