package agent

import (
	"maps"
	"slices"
	"strings"
)

// inline returns a copy of v in which every reference is replaced by what it
// names. What stands beside a reference is laid over it.
func (d *description) inline(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.inline(v[i])
		}
		return out
	case schema:
		out := schema{}
		if ref, ok := v["$ref"].(string); ok {
			part := any(d.components)
			for word := range strings.SplitSeq(strings.TrimPrefix(ref, "#/components/"), "/") {
				part = part.(schema)[word]
			}
			out = d.inline(part).(schema)
		}
		for key, value := range v {
			if key != "$ref" && key != "examples" && key != "example" {
				lay(out, key, d.inline(value))
			}
		}
		return out
	}
	return v
}

// lay lays a key over a schema: properties and required names come together. All
// of a schema's properties are then in one place, so what is left over is said
// in the word that more programs know.
func lay(out schema, key string, value any) {
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

// conditions are the words of a schema that only make it narrower, and that many
// programs which read tools do not know.
var conditions = []string{"if", "then", "else", "dependentSchemas"}

// portable returns a copy of a schema in the words that most programs know. It
// takes at least what v takes. null is spelled as a choice where we answer with
// it, and left out where we are asked: for us it is the same as nothing.
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
