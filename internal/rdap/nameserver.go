package rdap

import (
	"context"
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
	known, err := s.isKnownNameserver(ctx, host)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, deed.Errorf(deed.CodeNotFound, "%s is neither one of our name servers nor a name server within a name registered here", host)
	}
	self := s.PublicURL + "/rdap/nameserver/" + host
	common := s.commonMembers(requestURL)
	return api.RDAPNameserver{
		RDAPAnswer: &common,
		Class:      "nameserver", LDHName: host, UnicodeName: unicodeName(host), Status: []string{"active"},
		Events: []api.RDAPEvent{event("last update of RDAP database", s.Now())},
		Links:  []api.RDAPLink{{Value: self, Rel: "self", Href: self, Type: media}},
	}, nil
}

func (s *Server) isKnownNameserver(ctx context.Context, host string) (bool, error) {
	if slices.Contains(s.Nameservers, host) {
		return true, nil
	}
	name, ok := registrableName(host)
	if !ok {
		return false, nil
	}
	v, err := s.Names.Name(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil
	}
	return slices.Contains(v.Nameservers, host), err
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
