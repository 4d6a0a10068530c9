package lifecycle

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// Glue has the addresses of those name servers of a name that are below the name
// itself, sorted by host. Resolvers find such a server only through the addresses
// that the registry publishes.
type Glue []dnssec.Nameserver

// maxGlueAddresses is how many addresses a host may have.
const maxGlueAddresses = 13

// Below reports whether a host is the name itself or below it, so that the registry
// needs its addresses.
func Below(host string, name deed.Name) bool {
	return host == string(name) || strings.HasSuffix(host, "."+string(name))
}

// NewGlue returns the glue of the servers of a name. It fails with CodeValidation
// when a server below the name has no address, one elsewhere has any, or an address
// is not that of a host on the internet.
func NewGlue(name deed.Name, servers []dnssec.Nameserver) (Glue, error) {
	var g Glue
	for _, s := range servers {
		if !Below(s.Host, name) {
			if len(s.Addresses) > 0 {
				return nil, deed.Invalid("nameservers", "%s is not below %s, so it must have no addresses here", s.Host, name)
			}
			continue
		}
		addrs, err := glueAddresses(s)
		if err != nil {
			return nil, err
		}
		g = append(g, dnssec.Nameserver{Host: s.Host, Addresses: addrs})
	}
	slices.SortFunc(g, func(a, b dnssec.Nameserver) int { return strings.Compare(a.Host, b.Host) })
	return g, nil
}

// glueAddresses checks the addresses of a server. We only publish them, so those of
// documentation are accepted, which sandboxes use; see webhook.Public.
func glueAddresses(s dnssec.Nameserver) ([]netip.Addr, error) {
	if len(s.Addresses) == 0 || len(s.Addresses) > maxGlueAddresses {
		return nil, deed.Invalid("nameservers", `%s needs 1 to %d addresses, which the registry publishes: {"host": %q, "addresses": ["192.0.2.1"]}`, s.Host, maxGlueAddresses, s.Host)
	}
	var addrs []netip.Addr
	for _, a := range s.Addresses {
		a = a.Unmap()
		if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
			return nil, deed.Invalid("nameservers", "%s of %s is not the address of a host on the internet", a, s.Host)
		}
		if slices.Contains(addrs, a) {
			return nil, deed.Invalid("nameservers", "%s of %s is duplicated", a, s.Host)
		}
		addrs = append(addrs, a)
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs, nil
}

// String returns the glue in one line, "ns1.example.com=192.0.2.1,2001:db8::1 …",
// that ParseGlue reads. Equal glue has equal lines.
func (g Glue) String() string {
	var hosts []string
	for _, s := range g {
		var addrs []string
		for _, a := range s.Addresses {
			addrs = append(addrs, a.String())
		}
		hosts = append(hosts, s.Host+"="+strings.Join(addrs, ","))
	}
	return strings.Join(hosts, " ")
}

// ParseGlue parses a line of String.
func ParseGlue(line string) (g Glue, err error) {
	for text := range strings.FieldsSeq(line) {
		host, addrs, _ := strings.Cut(text, "=")
		s := dnssec.Nameserver{Host: host}
		for one := range strings.SplitSeq(addrs, ",") {
			a, err := netip.ParseAddr(one)
			if err != nil {
				return nil, fmt.Errorf("addresses of %s: %w", host, err)
			}
			s.Addresses = append(s.Addresses, a)
		}
		g = append(g, s)
	}
	return g, nil
}

// Of returns the addresses of a host, none if it has no glue.
func (g Glue) Of(host string) []netip.Addr {
	for _, s := range g {
		if s.Host == host {
			return s.Addresses
		}
	}
	return nil
}

// Corrected returns the glue of the name with these servers: the addresses that the
// registry reports, and ours where it does not report any.
func (g Glue) Corrected(name deed.Name, hosts []string, reported Glue) Glue {
	var servers []dnssec.Nameserver
	for _, host := range hosts {
		addrs := reported.Of(host)
		if len(addrs) == 0 {
			addrs = g.Of(host)
		}
		if Below(host, name) && len(addrs) > 0 {
			servers = append(servers, dnssec.Nameserver{Host: host, Addresses: slices.SortedFunc(slices.Values(addrs), netip.Addr.Compare)})
		}
	}
	slices.SortFunc(servers, func(a, b dnssec.Nameserver) int { return strings.Compare(a.Host, b.Host) })
	return servers
}
