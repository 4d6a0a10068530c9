package rdap

import "deed.example/deed/api"

// registrar is who we are, and who to tell of abuse.
func (s *Server) registrar() api.RDAPEntity {
	abuse := api.RDAPEntity{Class: "entity", Roles: []string{"abuse"}, VCard: vcard(
		[]any{"fn", nothing, "text", "Abuse contact"},
		[]any{"tel", map[string]string{"type": "voice"}, "uri", "tel:" + s.Registrar.AbusePhone},
		[]any{"email", nothing, "text", s.Registrar.AbuseEmail},
	)}
	base := s.PublicURL + "/rdap/"
	out := api.RDAPEntity{
		Class: "entity", Roles: []string{"registrar"}, VCard: vcard([]any{"fn", nothing, "text", s.Registrar.Name}),
		Entities: []api.RDAPEntity{abuse}, Links: []api.RDAPLink{{Value: base, Rel: "about", Href: base, Type: media}},
	}
	if id := s.Registrar.IANAID; id != "" {
		out.Handle, out.PublicIDs = id, []api.RDAPPublicID{{Type: "IANA Registrar ID", Identifier: id}}
	}
	return out
}

// registrant is an entity that nothing is told of, but where to write to it if
// there is such a place.
func (s *Server) registrant() api.RDAPEntity {
	properties := []any{
		[]any{"fn", nothing, "text", ""},
		[]any{"adr", nothing, "text", []string{"", "", "", "", "", "", ""}},
	}
	if s.Registrar.Contact != "" {
		properties = append(properties, []any{"contact-uri", nothing, "uri", s.Registrar.Contact})
	}
	return api.RDAPEntity{Class: "entity", Roles: []string{"registrant"}, VCard: vcard(properties...)}
}

// nothing are the parameters of a property that has none.
var nothing = map[string]string{}

// vcard returns a jCard with the properties (RFC 7095, 3.2).
func vcard(properties ...any) []any {
	return []any{"vcard", append([]any{[]any{"version", nothing, "text", "4.0"}}, properties...)}
}

// redacted names all that is not told (RFC 9537, 4.2), by the names of the
// profile. The registry has an ID of its own for the name, which we do not know.
func (s *Server) redacted() []api.RDAPRedacted {
	email := removed("Registrant Email", ofRegistrant+".vcardArray[1][?(@[0]=='email')]")
	if s.Registrar.Contact != "" {
		email.Method, email.ReplacementPath = "replacementValue", ofRegistrant+".vcardArray[1][?(@[0]=='contact-uri')]"
	}
	return []api.RDAPRedacted{
		removed("Registry Domain ID", "$.handle"),
		removed("Registry Registrant ID", ofRegistrant+".handle"),
		emptied("Registrant Name", "[?(@[0]=='fn')][3]"),
		removed("Registrant Organization", ofRegistrant+".vcardArray[1][?(@[0]=='org')]"),
		emptied("Registrant Street", "[?(@[0]=='adr')][3][2]"),
		emptied("Registrant City", "[?(@[0]=='adr')][3][3]"),
		emptied("Registrant Postal Code", "[?(@[0]=='adr')][3][5]"),
		removed("Registrant Phone", ofRegistrant+".vcardArray[1][?(@[1].type=='voice')]"),
		email,
	}
}

// ofRegistrant is the path of the registrant in an answer about a name.
const ofRegistrant = "$.entities[?(@.roles[0]=='registrant')]"

// policy is why we tell nothing: a wallet owns the name, and whoever is behind
// it did not tell us either.
var policy = api.RDAPWords{Description: "Server policy"}

func removed(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PrePath: path, PathLang: "jsonpath", Method: "removal", Reason: policy}
}

func emptied(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PostPath: ofRegistrant + ".vcardArray[1]" + path, PathLang: "jsonpath", Method: "emptyValue", Reason: policy}
}
