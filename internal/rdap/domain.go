package rdap

import (
	"context"
	"strings"
	"time"
	"unicode"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

func (s *Server) domain(ctx context.Context, requestURL, text string) (any, error) {
	name, err := deed.ParseName(text)
	if err != nil {
		return nil, err
	}
	v, err := s.Names.Name(ctx, name)
	if err != nil {
		return nil, err
	}
	self := s.PublicURL + "/rdap/domain/" + string(name)
	out := api.RDAPDomain{
		RDAPAnswer: s.commonMembers(requestURL),
		Class:      "domain", Handle: v.Registry.ROID, LDHName: string(name), UnicodeName: unicodeName(string(name)),
		Status: statusValues(v.EPPStatus()), Events: s.events(v), Nameservers: []api.RDAPNameserver{},
		SecureDNS: api.RDAPSecureDNS{Signed: len(v.DS) > 0},
		Entities:  []api.RDAPEntity{s.registrar(), s.registrant(v)},
		Links:     []api.RDAPLink{{Value: self, Rel: "self", Href: self, Type: media}},
		Redacted:  s.redacted(v.Registry.ROID != ""),
	}
	for _, host := range v.Nameservers {
		out.Nameservers = append(out.Nameservers, nameserver(host, v.Glue.Of(host)))
	}
	for _, ds := range v.DS {
		out.SecureDNS.DS = append(out.SecureDNS.DS, api.RDAPDS(ds))
	}
	return out, nil
}

// unicodeName returns the U-label form of a name, "" if it is the same.
func unicodeName(ascii string) string {
	if shown := deed.Name(ascii).Unicode(); shown != ascii {
		return shown
	}
	return ""
}

// statusValues maps EPP statuses to RDAP (RFC 8056, 2): pendingDelete becomes
// "pending delete"; ok and linked are exceptions.
func statusValues(epp []string) []string {
	out := make([]string, 0, len(epp))
	for _, word := range epp {
		out = append(out, statusValue(word))
	}
	return out
}

func statusValue(epp string) string {
	switch epp {
	case "ok":
		return "active"
	case "linked":
		return "associated"
	}
	var b strings.Builder
	for _, c := range epp {
		if unicode.IsUpper(c) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// events returns the events of RFC 9083, 10.2.3 that are known.
func (s *Server) events(v registration.View) []api.RDAPEvent {
	out := []api.RDAPEvent{
		event("registration", v.Created),
		event("expiration", v.Expires),
		event("registrar expiration", v.Expires), // always the same here
		event("last changed", v.Updated),
	}
	for _, e := range v.Events {
		if e.Type == lifecycle.EventTransferredIn {
			out = append(out, event("transfer", e.At))
		}
	}
	return append(out, event("last update of RDAP database", s.Now()))
}

func event(action string, at time.Time) api.RDAPEvent {
	return api.RDAPEvent{Action: action, Date: at.UTC().Truncate(time.Second)}
}
