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
		Bearer: call.Secured("bearer"), Paid: call.Secured("paymentSignature"), Sandbox: r.flags&sandboxOnly != 0, OnCard: r.flags&notOnCard == 0, Example: r.example, siblings: d.siblings(call), question: r.question, finish: r.finish,
	}
	if t.Paid {
		t.Description, t.Destructive = t.Description+paymentNote, true // spending money cannot be undone
	}
	properties := d.arguments(&t, r, call)
	listed, required := schema{}, []string{}
	for i, a := range t.Arguments {
		full, _ := portable(properties[a.Name], false).(schema)
		switch {
		case a.List:
			full = schema{"type": "array", "items": schema{"type": "string"}}
		case a.In == InText:
			full = schema{"type": "string"}
		case a.In == InExecutor:
			full = executorSchemas[a.Name]
			t.Arguments[i].Required = a.Name == argAddress
		case a.Name == argDryRun:
			full = schema{"type": "boolean"} // in a query it is one of two texts
		case full == nil:
			return Tool{}, fmt.Errorf("%s has no schema", a.Name)
		}
		if note(t.Name, a.Name) != "" {
			listed[a.Name] = compact(t.Name, a.Name, full)
		}
		if t.Arguments[i].Required {
			required = append(required, a.Name)
		}
	}
	in := schema{"type": "object", "properties": listed}
	if len(required) > 0 {
		in["required"] = required
	}
	out, err := d.answers(call.Object, t, r.returns)
	if err != nil {
		return Tool{}, err
	}
	if t.Input, err = json.Marshal(in, json.Deterministic(true)); err != nil {
		return Tool{}, err
	}
	t.Output, err = json.Marshal(out, json.Deterministic(true))
	return t, err
}

// siblings returns the values that the last part of a call's path cannot have, because
// they are paths of other calls.
func (d description) siblings(call openapi.Operation) (out []string) {
	before, parameter, _ := strings.Cut(call.Path, "{")
	for _, other := range d.Operations {
		last, under := strings.CutPrefix(other.Path, before)
		if under && parameter != "" && other.Method == call.Method && !strings.ContainsAny(last, "/{") {
			out = append(out, last)
		}
	}
	return out
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
	if r.text != "" {
		t.Arguments = append(t.Arguments, Argument{Name: r.text, In: InText, Required: true})
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

// answers returns the schema of a tool's answers: the members of the successful
// ones that matter. Clients validate errors against it, too, so that it requires
// nothing.
func (d description) answers(op schema, t Tool, members []string) (schema, error) {
	responses, _ := op["responses"].(schema)
	found := schema{}
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		s, ok := d.content(responses[status])
		if !ok || !strings.HasPrefix(status, "2") {
			continue
		}
		fields := fieldsOf(s)
		for _, name := range members {
			if f, ok := fields[name].(schema); ok {
				found[name] = typeOf(f)
			}
		}
	}
	for _, name := range members {
		if found[name] == nil && t.finish == nil {
			return nil, fmt.Errorf("%s %s has no %s in its answer", t.Method, t.Path, name)
		}
		if found[name] == nil {
			found[name] = schema{"type": "string"} // finish adds it
		}
	}
	if len(found) == 0 {
		return schema{"type": "object"}, nil
	}
	return schema{"type": "object", "properties": found}, nil
}

// fieldsOf returns the properties of a schema, of its parts and of its alternatives.
func fieldsOf(s schema) schema {
	out := schema{}
	for _, one := range slices.Concat(schemas(s["allOf"]), alternatives(s)) {
		maps.Copy(out, fieldsOf(one))
	}
	own, _ := s["properties"].(schema)
	maps.Copy(out, own)
	return out
}

// typeOf returns the type of a schema alone; a nullable one can be anything.
func typeOf(s schema) schema {
	if text, ok := s["type"].(string); ok {
		return schema{"type": text}
	}
	return schema{}
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
