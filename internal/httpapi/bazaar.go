package httpapi

import (
	"fmt"
	"maps"
	"strings"

	"deed.example/deed/api"
)

// bazaar returns the x402 extension that describes the request and the response
// of a paid route to crawlers.
func (s *Server) bazaar(endpoint string) (api.Bazaar, error) {
	if b, ok := s.bazaars.Load(endpoint); ok {
		return b.(api.Bazaar), nil
	}
	b, err := newBazaar(endpoint)
	if err == nil {
		s.bazaars.Store(endpoint, b)
	}
	return b, err
}

// newBazaar builds the extension of an endpoint from openapi.yaml.
func newBazaar(endpoint string) (api.Bazaar, error) {
	doc, err := readOpenAPI()
	if err != nil {
		return api.Bazaar{}, err
	}
	method, path, _ := strings.Cut(endpoint, " ")
	op := object(doc["paths"], path, strings.ToLower(method))
	in := object(op, "requestBody", "content", "application/json")
	out := object(op, "responses", "201", "content", "application/json")
	if out == nil {
		out = object(op, "responses", "200", "content", "application/json")
	}
	if in == nil || out == nil {
		return api.Bazaar{}, fmt.Errorf("openapi.yaml does not describe request and response of %s", endpoint)
	}
	refs := referencesOf(doc)
	var b api.Bazaar
	b.Info.Input.Type, b.Info.Input.Method, b.Info.Input.BodyType = "http", method, "json"
	b.Info.Input.Body, b.Info.Output.Type, b.Info.Output.Example = in["example"], "json", exampleOf(out)
	b.Schema = map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type":    "object",
		"properties": map[string]any{
			"input": map[string]any{
				"type": "object",
				"properties": map[string]any{
					"type":     map[string]any{"const": "http"},
					"method":   map[string]any{"enum": []any{method}},
					"bodyType": map[string]any{"const": "json"},
					"body":     refs.inline(in["schema"]),
				},
				"required":             []any{"type", "method", "bodyType", "body"},
				"additionalProperties": false,
			},
			"output": map[string]any{
				"type":       "object",
				"properties": map[string]any{"type": map[string]any{"type": "string"}, "example": refs.inline(firstOf(out["schema"]))},
				"required":   []any{"type"},
			},
		},
		"required": []any{"input"},
	}
	return b, nil
}

// exampleOf returns the example of a response; a renewal has several, and the
// one named "renewed" is taken.
func exampleOf(media map[string]any) any {
	if one, ok := media["example"]; ok {
		return one
	}
	return object(media, "examples", "renewed")["value"]
}

// firstOf returns the first schema of a oneOf: the purchase, where a response may
// also be the quote of a dry run.
func firstOf(schema any) any {
	if either, ok := object(schema)["oneOf"].([]any); ok {
		return either[0]
	}
	return schema
}

// object returns the nested object of v at the given keys, or nil.
func object(v any, keys ...string) map[string]any {
	o, _ := v.(map[string]any)
	for _, key := range keys {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// references maps a $ref to its schema.
type references map[string]any

func referencesOf(doc map[string]any) references {
	out := references{}
	for name, schema := range object(doc, "components", "schemas") {
		out["#/components/schemas/"+name] = schema
	}
	return out
}

// inline returns a self-contained schema, without descriptions and examples,
// because the size of a header is limited.
func (refs references) inline(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		if ref, ok := v["$ref"].(string); ok {
			maps.Copy(out, object(refs.inline(refs[ref])))
		}
		for key, member := range v {
			if _, text := member.(string); key == "$ref" || key == "description" && text || key == "example" {
				continue
			}
			out[key] = refs.inline(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = refs.inline(item)
		}
		return out
	}
	return v
}
