package dnssec

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Delegation is what a parent zone says of one name below it: who answers for
// it and, when it is signed, by which key.
type Delegation struct {
	Name        deed.Name
	Nameservers []Nameserver
	DS          []DS
}

// A Nameserver is a host that answers for a zone. Its addresses are needed only
// where the host lies in the zone it answers for, and nobody could find it.
type Nameserver struct {
	Host      string // absolute: "ns1.example.net"
	Addresses []netip.Addr
}

// RRs returns the delegation as records of the parent zone, for a Composition:
// NS, the glue that nobody could do without, and DS.
//
// It fails with CodeValidation when there is no server, a server's name is none,
// one that needs addresses has none, or a DS is malformed.
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

// glue returns the addresses of a server that lies in the zone it answers for.
// A server elsewhere needs none, even under the same parent (RFC 9471, 2).
func (s Nameserver) glue(zone string) ([]dnszone.RR, error) {
	host := strings.ToLower(strings.TrimSuffix(s.Host, "."))
	if host != zone && !below(host, zone) {
		return nil, nil
	}
	if len(s.Addresses) == 0 {
		return nil, deed.Invalid("nameservers", "%s lies in %s and needs its addresses beside it", host, zone)
	}
	var rrs []dnszone.RR
	for _, a := range s.Addresses {
		if !a.IsValid() {
			return nil, deed.Invalid("nameservers", "%s has an address that is none", host)
		}
		kind := dns.TypeAAAA
		if a = a.Unmap(); a.Is4() {
			kind = dns.TypeA
		}
		rrs = append(rrs, dnszone.RR{Owner: host, Type: kind, TTL: servedTTL, Data: string(a.AsSlice())})
	}
	return rrs, nil
}
