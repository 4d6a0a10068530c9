package rdap

import (
	"context"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
)

// nameserver shows a name server of ours, or one that serves the name it stands
// below, when we hold that name. Whether any other name that we hold uses a
// server is not told: to find out, all of them would have to be read, and anyone
// may ask any number of times.
func (s *Server) nameserver(ctx context.Context, asked, text string) (any, error) {
	host, err := deed.ParseHost(text)
	if err != nil {
		return nil, err
	}
	known, err := s.knows(ctx, host)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, deed.Errorf(deed.CodeNotFound, "%s is no name server of ours, nor of a name registered here that it stands below", host)
	}
	self := s.PublicURL + "/rdap/nameserver/" + host
	head := s.head(asked)
	return api.RDAPNameserver{
		RDAPAnswer: &head,
		Class:      "nameserver", LDHName: host, UnicodeName: unicodeName(host), Status: []string{"active"},
		Events: []api.RDAPEvent{event("last update of RDAP database", s.Now())},
		Links:  []api.RDAPLink{{Value: self, Rel: "self", Href: self, Type: media}},
	}, nil
}

func (s *Server) knows(ctx context.Context, host string) (bool, error) {
	if slices.Contains(s.Nameservers, host) {
		return true, nil
	}
	name, ok := above(host)
	if !ok {
		return false, nil
	}
	v, err := s.Names.Name(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil
	}
	return slices.Contains(v.Nameservers, host), err
}

// above returns the registrable name that a host stands below.
func above(host string) (deed.Name, bool) {
	for rest := host; rest != ""; _, rest, _ = strings.Cut(rest, ".") {
		if name, err := deed.ParseName(rest); err == nil {
			return name, true
		}
	}
	return "", false
}
