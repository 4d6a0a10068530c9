package rdap

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
)

// nameserver returns one of the service's own name servers, or one within a
// registered name that uses it. Other name servers are not found, even if a name
// uses them: the lookup would read all names, and the call has no rate limit.
func (s *Server) nameserver(ctx context.Context, requestURL, text string) (any, error) {
	host, err := deed.ParseHost(text)
	if err != nil {
		return nil, err
	}
	known, glue, err := s.isKnownNameserver(ctx, host)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, deed.Errorf(deed.CodeNotFound, "%s is neither one of our name servers nor a name server within a name registered here", host)
	}
	self := s.PublicURL + "/rdap/nameserver/" + host
	common := s.commonMembers(requestURL)
	out := nameserver(host, glue)
	out.RDAPAnswer, out.Status = &common, []string{"active"}
	out.Events = []api.RDAPEvent{event("last update of RDAP database", s.Now())}
	out.Links = []api.RDAPLink{{Value: self, Rel: "self", Href: self, Type: media}}
	return out, nil
}

// nameserver returns a name server with the addresses that its registry publishes.
func nameserver(host string, glue []netip.Addr) api.RDAPNameserver {
	out := api.RDAPNameserver{Class: "nameserver", LDHName: host, UnicodeName: unicodeName(host)}
	for _, a := range glue {
		if a.Is4() {
			out.Addresses.V4 = append(out.Addresses.V4, a.String())
		} else {
			out.Addresses.V6 = append(out.Addresses.V6, a.String())
		}
	}
	return out
}

// isKnownNameserver reports whether a host is a name server that is shown, and returns its
// glue.
func (s *Server) isKnownNameserver(ctx context.Context, host string) (known bool, glue []netip.Addr, err error) {
	if slices.Contains(s.Nameservers, host) {
		return true, nil, nil
	}
	name, ok := registrableName(host)
	if !ok {
		return false, nil, nil
	}
	v, err := s.Names.Name(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil, nil
	}
	return slices.Contains(v.Nameservers, host), v.Glue.Of(host), err
}

// registrableName returns the registrable name that a host belongs to.
func registrableName(host string) (deed.Name, bool) {
	for rest := host; rest != ""; _, rest, _ = strings.Cut(rest, ".") {
		if name, err := deed.ParseName(rest); err == nil {
			return name, true
		}
	}
	return "", false
}
