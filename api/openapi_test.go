package api_test

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
	"deed.example/deed/internal/interfacedoc"
)

// object is a part of openapi.yaml.
type object map[string]any

func document(t *testing.T) object {
	t.Helper()
	var doc object
	if err := yaml.Unmarshal(api.OpenAPIYAML, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at returns the nested object of o at the given keys, or nil. It follows
// references.
func (doc object) at(o object, keys ...string) object {
	for _, key := range keys {
		o, _ = o[key].(object)
		if ref, ok := o["$ref"].(string); ok {
			o = merge(o, doc.at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
		}
		for _, part := range list(o["allOf"]) {
			o = merge(o, doc.at(object{"": part}, ""))
		}
	}
	return o
}

// merge returns a schema that requires what a and b require. For keys in both, a
// is narrower and takes precedence.
func merge(a, b object) object {
	out := maps.Clone(b)
	maps.Copy(out, a)
	delete(out, "$ref")
	delete(out, "allOf")
	out["required"] = slices.Concat(list(a["required"]), list(b["required"]))
	properties := object{}
	for _, side := range []object{b, a} {
		side, _ := side["properties"].(object)
		for name, p := range side {
			both := object{}
			for _, word := range []any{properties[name], p} {
				word, _ := word.(object) // a schema may also be true or false
				maps.Copy(both, word)
			}
			properties[name] = both
		}
	}
	out["properties"] = properties
	return out
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

func (doc object) operation(r interfacedoc.Route) object {
	return doc.at(doc, "paths", r.Path, strings.ToLower(r.Method))
}

// operations returns every operation by its endpoint, as "GET /auth/nonce".
func (doc object) operations() iter.Seq2[string, object] {
	return func(yield func(string, object) bool) {
		for path, item := range doc.at(doc, "paths") {
			for method := range item.(object) {
				op := doc.at(doc, "paths", path, method)
				if method != "parameters" && !yield(strings.ToUpper(method)+" "+path, op) {
					return
				}
			}
		}
	}
}

// codes returns the error codes of a response.
func (doc object) codes(op object, status int) []any {
	content := doc.at(op, "responses", strconv.Itoa(status), "content")
	schema := doc.at(content, "application/rdap+json", "schema")
	if schema == nil {
		schema = doc.at(content, "application/json", "schema")
	}
	return list(doc.at(schema, "properties", "code")["enum"])
}

func TestRoutesAreDocumented(t *testing.T) {
	doc := document(t)
	for _, r := range interfacedoc.Routes() {
		op := doc.operation(r)
		if op == nil {
			t.Errorf("%s is not documented", r.Endpoint())
			continue
		}
		if got := asksForBearer(op); got != r.Bearer {
			t.Errorf("%s: got bearer %v, want %v", r.Endpoint(), got, r.Bearer)
		}
		for _, answer := range r.Answers {
			if doc.at(op, "responses", strconv.Itoa(answer.Status)) == nil {
				t.Errorf("%s: %d is not documented", r.Endpoint(), answer.Status)
			}
			for _, code := range answer.Codes {
				if got := doc.codes(op, answer.Status); !slices.Contains(got, any(code)) {
					t.Errorf("%s: %d has codes %v, want %s among them", r.Endpoint(), answer.Status, got, code)
				}
			}
		}
		if got := doc.codes(op, 402); r.Priced && !slices.Contains(got, any("PAYMENT_REQUIRED")) {
			t.Errorf("%s has a price and 402 has codes %v", r.Endpoint(), got)
		}
	}
}

// asksForBearer reports whether every security requirement of the operation
// includes a token.
func asksForBearer(op object) bool {
	ways := list(op["security"])
	for _, way := range ways {
		if _, ok := way.(object)["bearer"]; !ok {
			return false
		}
	}
	return len(ways) > 0
}

func TestRoutesAreInOrder(t *testing.T) {
	text := string(api.OpenAPIYAML)
	last := 0
	for _, r := range interfacedoc.Routes() {
		at := strings.Index(text, "\n  "+r.Path+":\n")
		if at < last {
			t.Errorf("%s stands before the route that the interface document has first", r.Path)
		}
		last = at
	}
}

// TestCodesHaveTheirStatus checks every response of every operation.
func TestCodesHaveTheirStatus(t *testing.T) {
	doc := document(t)
	statuses := map[any]int{}
	used := map[any]bool{}
	for _, c := range interfacedoc.Codes() {
		statuses[c.Code] = c.Status
	}
	for endpoint, op := range doc.operations() {
		for status := range doc.at(op, "responses") {
			n, err := strconv.Atoi(status)
			if err != nil {
				t.Fatal(err)
			}
			if n < 400 {
				continue // a failed job is in a 200 response
			}
			codes := doc.codes(op, n)
			checkCodes(t, endpoint, n, codes, statuses)
			for _, code := range codes {
				used[code] = used[code] || statuses[code] == n
			}
		}
	}
	for code, status := range statuses {
		if !used[code] {
			t.Errorf("no operation answers %d %s", status, code)
		}
	}
}

func checkCodes(t *testing.T, endpoint string, status int, codes []any, statuses map[any]int) {
	t.Helper()
	refusals := []int{413, 415, 431} // these statuses use the nearest code
	if len(codes) == 0 {
		t.Errorf("%s: %d names no code", endpoint, status)
	}
	for _, code := range codes {
		want, known := statuses[code]
		nearest := slices.Contains(refusals, status) && code == "VALIDATION_ERROR"
		if !known || want != status && !nearest {
			t.Errorf("%s: got %v at %d, want %d", endpoint, code, status, want)
		}
	}
}

func TestCodeListIsTheInterfaceDocuments(t *testing.T) {
	doc := document(t)
	var want []any
	for _, c := range interfacedoc.Codes() {
		want = append(want, c.Code)
	}
	if got := list(doc.at(doc, "components", "schemas", "Code")["enum"]); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLimitsAreDocumented(t *testing.T) {
	doc := document(t)
	limited := map[string]bool{ // extensions, each counted with a group of the interface document
		"GET /account/events":               true,
		"POST /account/webhooks":            true,
		"GET /account/webhooks":             true,
		"POST /account/calendar":            true,
		"GET /account/calendar":             true,
		"DELETE /account/calendar":          true,
		"GET /calendar/{file}":              true,
		"PUT /account/email":                true,
		"GET /account/email":                true,
		"DELETE /account/email":             true,
		"POST /account/email/confirm":       true,
		"GET /email/unsubscribe/{token}":    true,
		"POST /email/unsubscribe/{token}":   true,
		"GET /domains/check":                true,
		"POST /domains/transfer":            true,
		"POST /domains/{domain}/authcode":   true,
		"POST /domains/{domain}/cancel":     true,
		"PUT /domains/{domain}/lock":        true,
		"PUT /domains/{domain}/nameservers": true,
		"PUT /domains/{domain}/ds":          true,
		"PUT /domains/{domain}/owner":       true,

		"GET /domains/{domain}/registrant":    true,
		"PUT /domains/{domain}/registrant":    true,
		"DELETE /domains/{domain}/registrant": true,

		"GET /account/mandates/{domain}":      true,
		"POST /account/mandates/{domain}":     true,
		"DELETE /account/mandates/{domain}":   true,
		"GET /account/mandates/{domain}/plan": true,

		"DELETE /account/webhooks/{webhookId}":                           true,
		"POST /account/webhooks/{webhookId}/rotate":                      true,
		"POST /account/webhooks/{webhookId}/test":                        true,
		"GET /account/webhooks/{webhookId}/deliveries":                   true,
		"POST /account/webhooks/{webhookId}/deliveries/{eventId}/replay": true,

		"POST /dns/{domain}/batch":               true,
		"GET /dns/{domain}/export":               true,
		"POST /dns/{domain}/import":              true,
		"GET /dns/{domain}/revisions":            true,
		"POST /dns/{domain}/rollback/{revision}": true,
		"GET /dns/{domain}/propagation":          true,

		"POST /mcp": true, // these two have a limit of their own
		"POST /a2a": true,
	}
	for _, l := range interfacedoc.Limits() {
		for _, e := range l.Endpoints {
			limited[e] = true
		}
	}
	for endpoint, op := range doc.operations() {
		checkLimit(t, doc, endpoint, doc.at(op, "responses"), limited[endpoint])
	}
}

// checkLimit checks for a 429 response, and for the three headers on every
// response after counting. 401 and 503 may come before counting, 431 always does.
func checkLimit(t *testing.T, doc object, endpoint string, responses object, want bool) {
	t.Helper()
	if got := responses["429"] != nil; got != want {
		t.Errorf("%s: got 429 documented %v, want %v", endpoint, got, want)
	}
	for status := range responses {
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			got := doc.at(responses, status, "headers", name) != nil
			before := status == "401" || status == "431" || status == "503"
			if got != want && !(want && before) {
				t.Errorf("%s: %s has %s %v, want %v", endpoint, status, name, got, want)
			}
		}
	}
}
