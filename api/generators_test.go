package api_test

import (
	"slices"
	"strings"
	"testing"
)

// TestGeneratorsUnderstandSchemas checks what programs that generate clients need
// and JSON Schema does not require: openapi-typescript, orval, @hey-api/openapi-ts,
// openapi-zod-client and oapi-codegen ignore or refuse everything else.
func TestGeneratorsUnderstandSchemas(t *testing.T) {
	for name, schema := range document(t)["components"].(object)["schemas"].(object) {
		checkPortable(t, name, schema)
	}
}

// checkPortable checks a part of a schema and all parts below it.
func checkPortable(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			checkPortable(t, at, part)
		}
	case object:
		for _, fault := range faults(v) {
			t.Errorf("%s: %s", at, fault)
		}
		for key, part := range v {
			checkPortable(t, at+"."+key, part)
		}
	}
}

// faults returns what is wrong with one schema.
func faults(s object) []string {
	var out []string
	if (s["$ref"] != nil || s["allOf"] != nil) && (s["properties"] != nil || s["required"] != nil) {
		out = append(out, "properties beside $ref or allOf are ignored: put both into allOf")
	}
	if s["type"] == "array" && s["items"] == nil {
		out = append(out, "an array needs items")
	}
	if types := list(s["type"]); len(types) > 0 && (len(types) != 2 || types[1] != "null") {
		out = append(out, "a list of types is one type and null, in this order: use anyOf")
	}
	properties, _ := s["properties"].(object)
	fields := map[string]string{}
	for name, p := range properties {
		p, ok := p.(object)
		if !ok {
			out = append(out, name+" is true or false: use {} or not")
		}
		if p["x-go-name"] != nil {
			continue
		}
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if other := fields[key]; other != "" {
			out = append(out, name+" and "+other+" are one field in Go: one needs x-go-name")
		}
		fields[key] = name
	}
	return out
}

// Generators in Go make a type of each component, whatever section it is in.
func TestComponentNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for section, members := range document(t)["components"].(object) {
		if slices.Contains([]string{"headers", "securitySchemes"}, section) {
			continue // these are no types
		}
		for name := range members.(object) {
			if other := seen[name]; other != "" {
				t.Errorf("%s is in %s and in %s", name, other, section)
			}
			seen[name] = section
		}
	}
}
