package agent

import (
	"maps"
	"slices"
)

// inline returns a copy of v with every $ref replaced by its target, without
// examples.
func (d description) inline(v any) any { return d.Inline(v, merge) }

// merge sets a key of a schema; properties and required are combined with those
// already there. All properties of a schema are then in one place, so that
// unevaluatedProperties becomes additionalProperties, which more programs know.
func merge(out schema, key string, value any) {
	if key == "examples" || key == "example" {
		return
	}
	switch over := value.(type) {
	case schema:
		if under, ok := out[key].(schema); ok && key == "properties" {
			maps.Copy(under, over)
			return
		}
	case []any:
		if under, ok := out[key].([]any); ok && key == "required" {
			out[key] = slices.Concat(under, over)
			return
		}
	}
	if key == "unevaluatedProperties" {
		key = "additionalProperties"
	}
	out[key] = value
}

// conditions are keywords that only restrict a schema and that many clients do
// not support.
var conditions = []string{"if", "then", "else", "dependentSchemas"}

// portable returns a copy of a schema with widely supported keywords only. It
// accepts at least what v accepts. A nullable type becomes an anyOf in answers;
// in arguments null is left out, because it means absent.
func portable(v any, answers bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = portable(v[i], answers)
		}
		return out
	case schema:
		out := schema{}
		for key, value := range v {
			if !slices.Contains(conditions, key) {
				out[key] = portable(value, answers)
			}
		}
		types, _ := out["type"].([]any)
		if len(types) != 2 || types[1] != "null" {
			return out
		}
		out["type"] = types[0]
		if !answers {
			return out
		}
		about := out["description"]
		delete(out, "description")
		choice := schema{"anyOf": []any{out, schema{"type": "null"}}}
		if about != nil {
			choice["description"] = about
		}
		return choice
	}
	return v
}
