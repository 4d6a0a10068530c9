package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
)

// An operation is one call of openapi.yaml.
type operation struct {
	endpoint string   // "GET /domains/{domain}"
	query    []string // names of its parameters
	media    []string // of its body
}

func operations(t *testing.T) (all []operation) {
	t.Helper()
	type parameter struct {
		Name string `yaml:"name"`
		In   string `yaml:"in"`
		Ref  string `yaml:"$ref"`
	}
	var doc struct {
		Paths      map[string]map[string]yaml.Node `yaml:"paths"`
		Components struct {
			Parameters map[string]parameter `yaml:"parameters"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(api.OpenAPIYAML, &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method, node := range item {
			if !slices.Contains([]string{"get", "post", "put", "delete"}, method) {
				continue
			}
			var op struct {
				Parameters []parameter `yaml:"parameters"`
				Body       struct {
					Content map[string]yaml.Node `yaml:"content"`
				} `yaml:"requestBody"`
			}
			if err := node.Decode(&op); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			o := operation{endpoint: strings.ToUpper(method) + " " + path}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = doc.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				}
				if p.In == "query" {
					o.query = append(o.query, p.Name)
				}
			}
			for media := range op.Body.Content {
				o.media = append(o.media, media)
			}
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.endpoint, b.endpoint) })
	return all
}
