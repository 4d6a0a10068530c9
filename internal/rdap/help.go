package rdap

import (
	"slices"

	"deed.example/deed/api"
)

// conformance lists what our answers keep to (RFC 9083, 4.1). The profile of
// ICANN is for registrars that it has accredited, whose registrants can be
// reached.
func (s *Server) conformance() []string {
	out := []string{"rdap_level_0", "redacted"}
	if s.Registrar.accredited() {
		out = append(out, "icann_rdap_response_profile_1", "icann_rdap_technical_implementation_guide_1")
	}
	return out
}

// head begins an answer about an object, with the notices of the profile.
func (s *Server) head(asked string) api.RDAPAnswer {
	link := func(rel, href string) []api.RDAPLink {
		return []api.RDAPLink{{Value: asked, Rel: rel, Href: href, Type: "text/html"}}
	}
	return api.RDAPAnswer{Conformance: s.conformance(), Lang: "en", Notices: append(s.terms(asked),
		api.RDAPNotice{
			Title:       "Status Codes",
			Description: []string{"For more information on domain status codes, please visit https://icann.org/epp"},
			Links:       link("glossary", "https://icann.org/epp"),
		},
		api.RDAPNotice{
			Title:       "RDDS Inaccuracy Complaint Form",
			Description: []string{"URL of the ICANN RDDS Inaccuracy Complaint Form: https://icann.org/wicf"},
			Links:       link("help", "https://icann.org/wicf"),
		},
	)}
}

func (s *Server) terms(asked string) []api.RDAPNotice {
	return []api.RDAPNotice{{
		Title:       "Terms of Service",
		Description: []string{"These answers are free, for everyone, and about the names that were registered here. Nothing is told of their registrants."},
		Links:       []api.RDAPLink{{Value: asked, Rel: "terms-of-service", Href: s.PublicURL + "/rdap/help", Type: media}},
	}}
}

// help says what can be asked (RFC 9083, 7).
func (s *Server) help() api.RDAPAnswer {
	self := s.PublicURL + "/rdap/help"
	return api.RDAPAnswer{Conformance: s.conformance(), Lang: "en", Notices: slices.Concat(s.terms(self), []api.RDAPNotice{{
		Title: "Help",
		Description: []string{
			"GET /rdap/domain/{name} shows a name that was registered here, /rdap/nameserver/{name} one of its name servers.",
			"Names are written in ASCII or in Unicode: xn--bcher-kva.com or bücher.com.",
		},
		Links: []api.RDAPLink{{Value: self, Rel: "self", Href: self, Type: media}},
	}})}
}
