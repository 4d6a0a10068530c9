package rdap

import (
	"deed.example/deed/api"
	"deed.example/deed/internal/registration"
)

// registrar returns the registrar entity with its abuse contact.
func (s *Server) registrar() api.RDAPEntity {
	abuse := api.RDAPEntity{Class: "entity", Roles: []string{"abuse"}, VCard: vcard(
		[]any{"fn", noParameters, "text", "Abuse contact"},
		[]any{"tel", map[string]string{"type": "voice"}, "uri", "tel:" + s.Registrar.AbusePhone},
		[]any{"email", noParameters, "text", s.Registrar.AbuseEmail},
	)}
	base := s.PublicURL + "/rdap/"
	out := api.RDAPEntity{
		Class: "entity", Roles: []string{"registrar"}, VCard: vcard([]any{"fn", noParameters, "text", s.Registrar.Name}),
		Entities: []api.RDAPEntity{abuse}, Links: []api.RDAPLink{{Value: base, Rel: "about", Href: base, Type: media}},
	}
	if id := s.Registrar.IANAID; id != "" {
		out.Handle, out.PublicIDs = id, []api.RDAPPublicID{{Type: "IANA Registrar ID", Identifier: id}}
	}
	return out
}

// registrant returns the redacted registrant entity, with the country of the registrant
// of record (RFC 8605, 3.1), which is not that of an owner who is the registrant, and a
// contact URI if the operator has one.
func (s *Server) registrant(v registration.View) api.RDAPEntity {
	address := noParameters
	owners := v.Registrant.Given != nil && v.Registrant.Given.Current()
	if country := s.Countries[v.Backend]; country != "" && !owners {
		address = map[string]string{"cc": country}
	}
	properties := []any{
		[]any{"fn", noParameters, "text", ""},
		[]any{"adr", address, "text", []string{"", "", "", "", "", "", ""}},
	}
	if s.Registrar.Contact != "" {
		properties = append(properties, []any{"contact-uri", noParameters, "uri", s.Registrar.Contact})
	}
	return api.RDAPEntity{Class: "entity", Roles: []string{"registrant"}, VCard: vcard(properties...)}
}

// noParameters is for jCard properties without parameters.
var noParameters = map[string]string{}

// vcard returns a jCard with the properties (RFC 7095, 3.2).
func vcard(properties ...any) []any {
	return []any{"vcard", append([]any{[]any{"version", noParameters, "text", "4.0"}}, properties...)}
}

// redacted lists the redacted fields (RFC 9537, 4.2) by the names of the profile. That
// includes the registry's ID of the domain until the registry has said it.
func (s *Server) redacted(identified bool) []api.RDAPRedacted {
	email := removed("Registrant Email", registrantPath+".vcardArray[1][?(@[0]=='email')]")
	if s.Registrar.Contact != "" {
		email.Method, email.ReplacementPath = "replacementValue", registrantPath+".vcardArray[1][?(@[0]=='contact-uri')]"
	}
	var out []api.RDAPRedacted
	if !identified {
		out = append(out, removed("Registry Domain ID", "$.handle"))
	}
	return append(out,
		removed("Registry Registrant ID", registrantPath+".handle"),
		emptied("Registrant Name", "[?(@[0]=='fn')][3]"),
		removed("Registrant Organization", registrantPath+".vcardArray[1][?(@[0]=='org')]"),
		emptied("Registrant Street", "[?(@[0]=='adr')][3][2]"),
		emptied("Registrant City", "[?(@[0]=='adr')][3][3]"),
		emptied("Registrant Postal Code", "[?(@[0]=='adr')][3][5]"),
		removed("Registrant Phone", registrantPath+".vcardArray[1][?(@[1].type=='voice')]"),
		email,
	)
}

// registrantPath is the JSONPath of the registrant in a domain response.
const registrantPath = "$.entities[?(@.roles[0]=='registrant')]"

// policy is the reason for redaction. There is no data to disclose: a wallet owns
// the name.
var policy = api.RDAPWords{Description: "Server policy"}

func removed(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PrePath: path, PathLang: "jsonpath", Method: "removal", Reason: policy}
}

func emptied(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PostPath: registrantPath + ".vcardArray[1]" + path, PathLang: "jsonpath", Method: "emptyValue", Reason: policy}
}
