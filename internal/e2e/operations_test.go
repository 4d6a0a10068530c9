package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"deed.example/deed/internal/openapi"
)

// An operation is one call of openapi.yaml.
type operation struct {
	endpoint string   // "GET /domains/{domain}"
	query    []string // names of its parameters
	media    []string // of its body
}

func operations(t *testing.T) (all []operation) {
	t.Helper()
	doc, err := openapi.Read()
	if err != nil {
		t.Fatal(err)
	}
	replace := func(out map[string]any, key string, value any) { out[key] = value }
	for _, op := range doc.Operations {
		o := operation{endpoint: op.Method + " " + op.Path}
		params, _ := doc.Inline(op.Object["parameters"], replace).([]any)
		for _, p := range params {
			if p := openapi.Object(p); p["in"] == "query" {
				o.query = append(o.query, p["name"].(string))
			}
		}
		o.media = slices.Sorted(maps.Keys(openapi.Object(op.Object, "requestBody", "content")))
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.endpoint, b.endpoint) })
	return all
}
