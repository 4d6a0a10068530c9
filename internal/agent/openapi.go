package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/openapi"
)

type schema = map[string]any

// A description is openapi.yaml, as this package reads it.
type description struct{ *openapi.Document }

// tool builds the tool of a row from the description of its call.
func (d description) tool(r row) (Tool, error) {
	call, ok := d.Operation(r.endpoint)
	if !ok {
		return Tool{}, fmt.Errorf("openapi.yaml has no %s", r.endpoint)
	}
	t := Tool{
		Name: r.name, Title: r.title, Purpose: r.description, Description: r.description, Method: call.Method, Path: call.Path,
		ReadOnly: r.flags&readOnly != 0, Destructive: r.flags&destructive != 0, Idempotent: r.flags&idempotent != 0, Waits: r.flags&waits != 0,
		Bearer: call.Secured("bearer"), Paid: call.Secured("paymentSignature"), finish: r.finish,
	}
	if t.Paid {
		t.Description, t.Destructive = t.Description+paymentNote, true // spending money cannot be undone
	}
	properties := d.arguments(&t, r, call)
	for i, a := range t.Arguments {
		p, _ := properties[a.Name].(schema)
		if a.List {
			properties[a.Name] = schema{"type": "array", "items": schema{"type": "string", "minLength": 1}, "description": r.hints[a.Field]}
			if a.Required {
				properties[a.Name].(schema)["minItems"] = 1
			}
		} else if a.In == InExecutor {
			properties[a.Name] = executorSchemas[a.Name]
			t.Arguments[i].Required = a.Name == argAddress
		} else if p == nil {
			return Tool{}, fmt.Errorf("%s has no schema", a.Name)
		}
	}
	required := []string{}
	for _, a := range t.Arguments {
		if a.Required {
			required = append(required, a.Name)
		}
	}
	in := schema{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	out, err := d.answers(call.Object, t)
	if err != nil {
		return Tool{}, err
	}
	if t.Input, err = json.Marshal(portable(in, false), json.Deterministic(true)); err != nil {
		return Tool{}, err
	}
	t.Output, err = json.Marshal(portable(out, true), json.Deterministic(true))
	return t, err
}

// arguments sets the arguments of a tool and returns their schemas.
func (d description) arguments(t *Tool, r row, call openapi.Operation) schema {
	properties := schema{}
	add := func(field string, in Place, required bool, s schema) {
		a := Argument{Name: snake(field), Field: field, In: in, Required: required || slices.Contains(r.needs, field), List: slices.Contains(r.lists, field)}
		t.Arguments = append(t.Arguments, a)
		properties[a.Name] = s
	}
	for _, list := range []any{call.Item["parameters"], call.Object["parameters"]} {
		params, _ := list.([]any)
		for _, param := range params {
			p := d.inline(param).(schema)
			place := Place(p["in"].(string))
			if place != InPath && place != InQuery {
				continue // agents do not set headers
			}
			s := maps.Clone(p["schema"].(schema))
			s["description"] = p["description"]
			add(p["name"].(string), place, p["required"] == true, s)
		}
	}
	body := d.body(call.Object)
	fields, _ := body["properties"].(schema)
	required, _ := body["required"].([]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		add(field, InBody, slices.Contains(required, any(field)), fields[field].(schema))
	}
	handled := func(wanted bool, name string) {
		if wanted {
			t.Arguments = append(t.Arguments, Argument{Name: name, In: InExecutor})
		}
	}
	handled(t.Name == "sign_in_message", argAddress)
	handled(t.Waits, argWait)
	handled(t.Bearer, argToken)
	return properties
}

// body returns the schema of an operation's JSON body, or nil.
func (d description) body(op schema) schema {
	s, _ := d.content(op["requestBody"])
	return s
}

// content returns the JSON schema of a body.
func (d description) content(v any) (schema, bool) {
	full, _ := d.inline(v).(schema)
	content, _ := full["content"].(schema)
	media, _ := content["application/json"].(schema)
	s, ok := media["schema"].(schema)
	return s, ok
}

// answers returns the schema of a tool's answers: the successful responses of its
// call, and errors. Clients validate both against it.
func (d description) answers(op schema, t Tool) (schema, error) {
	responses, _ := op["responses"].(schema)
	var shapes []any
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if s, ok := d.content(responses[status]); ok && strings.HasPrefix(status, "2") {
			shapes = append(shapes, s)
		}
	}
	if len(shapes) == 0 {
		return nil, fmt.Errorf("%s %s has no response schema", t.Method, t.Path)
	}
	if t.finish != nil { // finish adds members
		for _, s := range shapes {
			s.(schema)["additionalProperties"] = true
		}
	}
	shapes = append(shapes, schema{
		"type": "object", "required": []any{"error", "message", "code"}, "description": "Why it was not done.",
		"properties": schema{"error": schema{"type": "string"}, "message": schema{"type": "string"}, "code": schema{"type": "string"}},
	})
	if t.Paid {
		shapes = append(shapes, schema{
			"type": "object", "required": []any{"x402Version", "accepts"}, "description": "What it costs, in the words of x402: pay one of accepts.",
			"properties": schema{"x402Version": schema{"type": "integer"}, "accepts": schema{"type": "array", "items": schema{"type": "object"}}},
		})
	}
	return schema{"type": "object", "anyOf": shapes}, nil
}

// snake converts a field name to snake case: maxPriceUsd becomes max_price_usd.
func snake(field string) string {
	var b strings.Builder
	for _, c := range field {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
