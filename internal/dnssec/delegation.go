package dnssec

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Delegation is the data of one name in its parent zone: its name servers and,
// when it is signed, the DS of its key.
type Delegation struct {
	Name        deed.Name
	Nameservers []Nameserver
	DS          []DS
}

// A Nameserver is a host that serves a zone. Its addresses are needed only when the
// host is inside the zone it serves, where it could not be resolved otherwise.
type Nameserver struct {
	Host      string // absolute: "ns1.example.net"
	Addresses []netip.Addr
}

// RRs returns the delegation as records of the parent zone, for a Composition: NS,
// the required glue, and DS.
//
// It fails with CodeValidation when there is no server, the name of a server is
// invalid, one that needs addresses has none, or a DS is malformed.
func (d Delegation) RRs() ([]dnszone.RR, error) {
	owner := string(d.Name)
	if len(d.Nameservers) == 0 {
		return nil, deed.Invalid("nameservers", "%s needs at least one name server", owner)
	}
	var rrs []dnszone.RR
	for _, s := range d.Nameservers {
		host, err := wireName(s.Host)
		if err != nil {
			return nil, deed.Invalid("nameservers", "%v", err)
		}
		glue, err := s.glue(owner)
		if err != nil {
			return nil, err
		}
		rrs = append(append(rrs, dnszone.RR{Owner: owner, Type: dns.TypeNS, TTL: servedTTL, Data: host}), glue...)
	}
	for _, ds := range d.DS {
		rr, err := ds.RR(owner)
		if err != nil {
			return nil, err
		}
		rrs = append(rrs, rr)
	}
	return rrs, nil
}

// glue returns the addresses of a server that is inside the zone it serves. A
// server elsewhere needs no glue, even under the same parent (RFC 9471, 2).
func (s Nameserver) glue(zone string) ([]dnszone.RR, error) {
	host := strings.ToLower(strings.TrimSuffix(s.Host, "."))
	if host != zone && !below(host, zone) {
		return nil, nil
	}
	if len(s.Addresses) == 0 {
		return nil, deed.Invalid("nameservers", "%s is inside %s and needs its addresses", host, zone)
	}
	var rrs []dnszone.RR
	for _, a := range s.Addresses {
		if !a.IsValid() {
			return nil, deed.Invalid("nameservers", "%s has an invalid address", host)
		}
		kind := dns.TypeAAAA
		if a = a.Unmap(); a.Is4() {
			kind = dns.TypeA
		}
		rrs = append(rrs, dnszone.RR{Owner: host, Type: kind, TTL: servedTTL, Data: string(a.AsSlice())})
	}
	return rrs, nil
}
