package api_test

import (
	"slices"
	"strings"
	"testing"

	"deed.example/deed/internal/interfacedoc"
)

// types maps the types of the interface document to those of OpenAPI.
var types = map[string]any{
	"string":           "string",
	"integer":          "integer",
	"boolean":          "boolean",
	"array of objects": "array",
}

func TestFieldsAreDocumented(t *testing.T) {
	schemas := map[string]string{
		"2.1": "Nonce",
		"2.2": "TokenSet",
		"2.3": "Record",
		"2.4": "RecordList",
		"2.5": "TLDPrice",
		"2.6": "SearchResult",
		"2.7": "Error",
	}
	doc := document(t)
	for section, name := range schemas {
		for _, f := range interfacedoc.Fields(section) {
			checkField(t, doc, name, f)
		}
	}
}

// checkField checks a field of a schema, such as results[].tld. Every field of
// these tables is in the response, so every one is required.
func checkField(t *testing.T, doc object, schema string, f interfacedoc.Field) {
	t.Helper()
	o := doc.at(doc, "components", "schemas", schema)
	name := f.Name
	if list, item, ok := strings.Cut(f.Name, "[]."); ok {
		o, name = doc.at(o, "properties", list, "items"), item
	}
	field := doc.at(o, "properties", name)
	if field == nil {
		t.Errorf("%s has no %s", schema, f.Name)
		return
	}
	if !slices.Contains(list(o["required"]), any(name)) {
		t.Errorf("%s does not require %s", schema, f.Name)
	}
	switch f.Type {
	case "integer or null":
		if !slices.Equal(list(field["type"]), []any{"integer", "null"}) {
			t.Errorf("%s.%s: got type %v, want integer or null", schema, f.Name, field["type"])
		}
	case "array of DNS record":
		if field["type"] != "array" || doc.at(field, "items", "properties", "distance") == nil {
			t.Errorf("%s.%s is no array of records", schema, f.Name)
		}
	default:
		word, _, _ := strings.Cut(f.Type, " (")
		if want, ok := types[word]; !ok || field["type"] != want {
			t.Errorf("%s.%s: got type %v, want %s", schema, f.Name, field["type"], f.Type)
		}
	}
}

func TestRefreshReturnsTokensOnly(t *testing.T) {
	doc := document(t)
	pair := doc.at(doc, "components", "schemas", "TokenPair")
	want := []any{"accessToken", "refreshToken"}
	if got := list(pair["required"]); !slices.Equal(got, want) {
		t.Errorf("got required %v, want %v", got, want)
	}
	if got := len(doc.at(pair, "properties")); got != len(want) || pair["additionalProperties"] != false {
		t.Errorf("got %d fields and additionalProperties %v, want %d and false", got, pair["additionalProperties"], len(want))
	}
}

// TestErrorsShareTheirFields checks the schemas that extend the error object.
func TestErrorsShareTheirFields(t *testing.T) {
	doc := document(t)
	for _, name := range []string{"Error", "PaymentRequired", "FailedOrder", "FailedChange", "Unhealthy", "RDAPError"} {
		for _, f := range interfacedoc.Fields("2.7") {
			checkField(t, doc, name, interfacedoc.Field{Name: f.Name, Type: f.Type})
		}
	}
}
