package httpapi

import (
	"fmt"

	"deed.example/deed/api"
	"deed.example/deed/internal/openapi"
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
	doc, err := openapi.Read()
	if err != nil {
		return api.Bazaar{}, err
	}
	op, _ := doc.Operation(endpoint)
	in := openapi.Object(op.Object, "requestBody", "content", "application/json")
	out := openapi.Object(op.Object, "responses", "201", "content", "application/json")
	if out == nil {
		out = openapi.Object(op.Object, "responses", "200", "content", "application/json")
	}
	if in == nil || out == nil {
		return api.Bazaar{}, fmt.Errorf("openapi.yaml does not describe request and response of %s", endpoint)
	}
	var b api.Bazaar
	b.Info.Input.Type, b.Info.Input.Method, b.Info.Input.BodyType = "http", op.Method, "json"
	b.Info.Input.Body, b.Info.Output.Type, b.Info.Output.Example = in["example"], "json", exampleOf(out)
	b.Schema = map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type":    "object",
		"properties": map[string]any{
			"input": map[string]any{
				"type": "object",
				"properties": map[string]any{
					"type":     map[string]any{"const": "http"},
					"method":   map[string]any{"enum": []any{op.Method}},
					"bodyType": map[string]any{"const": "json"},
					"body":     doc.Inline(in["schema"], withoutTexts),
				},
				"required":             []any{"type", "method", "bodyType", "body"},
				"additionalProperties": false,
			},
			"output": map[string]any{
				"type":       "object",
				"properties": map[string]any{"type": map[string]any{"type": "string"}, "example": doc.Inline(firstOf(out["schema"]), withoutTexts)},
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
	return openapi.Object(media, "examples", "renewed")["value"]
}

// firstOf returns the first schema of a oneOf: the purchase, where a response may
// also be the quote of a dry run.
func firstOf(schema any) any {
	if either, ok := openapi.Object(schema)["oneOf"].([]any); ok {
		return either[0]
	}
	return schema
}

// withoutTexts leaves out descriptions and examples, because the size of a header is
// limited.
func withoutTexts(out map[string]any, key string, value any) {
	if _, text := value.(string); key == "description" && text || key == "example" {
		return
	}
	out[key] = value
}
