package rdap

import "deed.example/deed/api"

// registrar is who we are, and who to tell of abuse.
func (s *Server) registrar() api.RDAPEntity {
	abuse := api.RDAPEntity{Class: "entity", Roles: []string{"abuse"}, VCard: vcard(
		[]any{"fn", nothing, "text", "Abuse contact"},
		[]any{"tel", map[string]string{"type": "voice"}, "uri", "tel:" + s.Registrar.AbusePhone},
		[]any{"email", nothing, "text", s.Registrar.AbuseEmail},
	)}
	out := api.RDAPEntity{
		Class: "entity", Roles: []string{"registrar"}, VCard: vcard([]any{"fn", nothing, "text", s.Registrar.Name}),
		Entities: []api.RDAPEntity{abuse},
	}
	if id := s.Registrar.IANAID; id != "" {
		out.Handle, out.PublicIDs = id, []api.RDAPPublicID{{Type: "IANA Registrar ID", Identifier: id}}
	}
	return out
}

// registrant is an entity that nothing is told of.
func registrant() api.RDAPEntity {
	return api.RDAPEntity{Class: "entity", Roles: []string{"registrant"}, VCard: vcard([]any{"fn", nothing, "text", ""})}
}

// nothing are the parameters of a property that has none.
var nothing = map[string]string{}

// vcard returns a jCard with the properties (RFC 7095, 3.2).
func vcard(properties ...any) []any {
	return []any{"vcard", append([]any{[]any{"version", nothing, "text", "4.0"}}, properties...)}
}

// redacted names all that is not told of the registrant (RFC 9537, 4.2), by the
// names of the profile.
var redacted = []api.RDAPRedacted{
	emptied("Registrant Name", "[?(@[0]=='fn')][3]"),
	removed("Registry Registrant ID", ".handle"),
	removed("Registrant Organization", ".vcardArray[1][?(@[0]=='org')]"),
	removed("Registrant Street", ".vcardArray[1][?(@[0]=='adr')][3][2]"),
	removed("Registrant City", ".vcardArray[1][?(@[0]=='adr')][3][3]"),
	removed("Registrant Postal Code", ".vcardArray[1][?(@[0]=='adr')][3][5]"),
	removed("Registrant Phone", ".vcardArray[1][?(@[1].type=='voice')]"),
	removed("Registrant Email", ".vcardArray[1][?(@[0]=='email')]"),
}

// ofRegistrant is the path of the registrant in an answer about a name.
const ofRegistrant = "$.entities[?(@.roles[0]=='registrant')]"

// policy is why we tell nothing: a wallet owns the name, and whoever is behind
// it did not tell us either.
var policy = api.RDAPWords{Description: "Server policy"}

func removed(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PrePath: ofRegistrant + path, PathLang: "jsonpath", Method: "removal", Reason: policy}
}

func emptied(name, path string) api.RDAPRedacted {
	return api.RDAPRedacted{Name: api.RDAPWords{Type: name}, PostPath: ofRegistrant + ".vcardArray[1]" + path, PathLang: "jsonpath", Method: "emptyValue", Reason: policy}
}
