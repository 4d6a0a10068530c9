// Package openapi reads api/openapi.yaml for everything that is derived from it:
// openapi.json and the extension for crawlers (httpapi), the tools of agents (agent),
// the guides (discovery), and the checks of the tests (apitest). Nothing else parses
// that file but the test beside it.
//
// A Document is a tree of maps, slices and values as JSON has them, because its
// readers pass parts of it on unchanged. Each call of Read returns a copy of its own.
package openapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"weak"

	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
)

// A Document is an OpenAPI description.
type Document struct {
	Root       map[string]any
	Operations []Operation // in the order of the document
}

// An Operation is a method of a path.
type Operation struct {
	Method string // in upper case
	Path   string
	Item   map[string]any // its path item
	Object map[string]any // the operation itself
}

// Read returns the description of this service. It is parsed again if it was not read for a
// while: it takes a megabyte, and is read at the start above all.
func Read() (*Document, error) {
	d, err := ours.read()
	if err != nil {
		return nil, err
	}
	return d.clone(), nil
}

var ours description

// description is that of this service, until the garbage collector takes it.
type description struct {
	mu     sync.Mutex
	parsed weak.Pointer[Document] // guarded by mu
}

func (o *description) read() (*Document, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.parsed.Value(); d != nil {
		return d, nil
	}
	d, err := Parse(api.OpenAPIYAML)
	o.parsed = weak.Make(d)
	return d, err
}

// Parse returns the description in text.
func Parse(text []byte) (*Document, error) {
	var tree struct {
		Paths yaml.Node `yaml:"paths"` // a map has no order
	}
	var file yaml.Node
	d := &Document{}
	err := yaml.Unmarshal(text, &file)
	if err = cmp.Or(err, file.Decode(&d.Root), file.Decode(&tree)); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	for path, item := range members(tree.Paths) {
		for method := range members(item) {
			if op := d.operation(strings.ToUpper(method), path); op.Object != nil { // parameters are a list
				d.Operations = append(d.Operations, op)
			}
		}
	}
	return d, nil
}

// operation returns the operation of a method and path in the tree.
func (d *Document) operation(method, path string) Operation {
	item := Object(d.Root, "paths", path)
	return Operation{Method: method, Path: path, Item: item, Object: Object(item, strings.ToLower(method))}
}

// clone returns a copy that shares nothing with d.
func (d *Document) clone() *Document {
	c := &Document{Root: cloned(d.Root).(map[string]any)}
	for _, op := range d.Operations {
		c.Operations = append(c.Operations, c.operation(op.Method, op.Path))
	}
	return c
}

func cloned(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cloned(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = cloned(v[key])
		}
		return out
	}
	return v
}

// members returns the keys and values of a YAML mapping in their order.
func members(n yaml.Node) func(yield func(string, yaml.Node) bool) {
	return func(yield func(string, yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, *n.Content[i+1]) {
				return
			}
		}
	}
}

// Operation returns the operation of an endpoint such as "GET /domains/{domain}".
func (d *Document) Operation(endpoint string) (Operation, bool) {
	i := slices.IndexFunc(d.Operations, func(op Operation) bool { return op.Method+" "+op.Path == endpoint })
	if i < 0 {
		return Operation{}, false
	}
	return d.Operations[i], true
}

// Secured reports whether any security requirement of an operation has the scheme.
func (op Operation) Secured(scheme string) bool {
	requirements, _ := op.Object["security"].([]any)
	return slices.ContainsFunc(requirements, func(r any) bool { return Object(r)[scheme] != nil })
}

// Object returns the nested object of v at the given keys, or nil.
func Object(v any, keys ...string) map[string]any {
	o, _ := v.(map[string]any)
	for _, key := range keys {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// Inline returns a copy of v with every $ref replaced by its target. Each member of
// an object is written by set, over the members of the target if there is a $ref: set
// may leave a member out, or combine it with the one that is there.
func (d *Document) Inline(v any, set func(out map[string]any, key string, value any)) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = d.Inline(v[i], set)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		if ref, ok := v["$ref"].(string); ok {
			out, _ = d.Inline(d.target(ref), set).(map[string]any)
		}
		for key, value := range v {
			if key != "$ref" {
				set(out, key, d.Inline(value, set))
			}
		}
		return out
	}
	return v
}

// target returns what a reference such as #/components/headers/ETag refers to.
func (d *Document) target(ref string) map[string]any {
	return Object(d.Root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}
