package rdap

import (
	"slices"

	"deed.example/deed/api"
)

// conformance returns rdapConformance (RFC 9083, 4.1). The ICANN profile applies
// to accredited registrars whose registrants can be contacted.
func (s *Server) conformance() []string {
	out := []string{"rdap_level_0", "redacted"}
	if s.Registrar.accredited() {
		out = append(out, "icann_rdap_response_profile_1", "icann_rdap_technical_implementation_guide_1")
	}
	return out
}

// commonMembers returns the members that all object responses have, with the
// notices of the profile.
func (s *Server) commonMembers(requestURL string) api.RDAPAnswer {
	link := func(rel, href string) []api.RDAPLink {
		return []api.RDAPLink{{Value: requestURL, Rel: rel, Href: href, Type: "text/html"}}
	}
	return api.RDAPAnswer{Conformance: s.conformance(), Lang: "en", Notices: append(s.terms(requestURL),
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

func (s *Server) terms(requestURL string) []api.RDAPNotice {
	return []api.RDAPNotice{{
		Title:       "Terms of Service",
		Description: []string{"Responses are free and public, and cover the names that were registered here. Registrant data is redacted."},
		Links:       []api.RDAPLink{{Value: requestURL, Rel: "terms-of-service", Href: s.PublicURL + "/rdap/help", Type: media}},
	}}
}

// help returns the help response (RFC 9083, 7).
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
