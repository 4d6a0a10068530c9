package apitest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"deed.example/deed/api"
	"deed.example/deed/internal/openapi"
)

// location is the base URI of the document's schemas; nothing is fetched.
const location = "https://deed.example/openapi.json"

// A contract is the parsed document.
type contract struct {
	document map[string]any
	compiler *jsonschema.Compiler

	mu       sync.Mutex // guards compiler and compiled
	compiled map[string]*jsonschema.Schema
}

var theContract = sync.OnceValue(func() *contract {
	c, err := newContract(api.OpenAPIYAML)
	if err != nil {
		panic("apitest: openapi.yaml: " + err.Error())
	}
	return c
})

func newContract(text []byte) (*contract, error) {
	spec, err := openapi.Parse(text)
	if err != nil {
		return nil, err
	}
	asJSON, err := json.Marshal(spec.Root)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(location, document); err != nil {
		return nil, err
	}
	return &contract{
		document: document.(map[string]any),
		compiler: compiler,
		compiled: map[string]*jsonschema.Schema{},
	}, nil
}

// schema returns the compiled schema at a node of the document.
func (c *contract) schema(at node) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[at.pointer]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(location + "#" + (&url.URL{Path: at.pointer}).EscapedPath())
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	c.compiled[at.pointer] = s
	return s, nil
}

// An operation is a method of a path of the document.
type operation struct {
	node
	item   node              // its path item
	params map[string]string // the values in the request's path
}

// find returns the operation of a request. HEAD counts as GET. A path with empty
// or dotted segments matches none.
func (c *contract) find(method string, u *url.URL) (operation, bool) {
	if path.Clean(u.Path) != u.Path {
		return operation{}, false
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	segments := strings.Split(u.EscapedPath(), "/")
	best, found := operation{}, false
	for template, item := range c.root().child("paths").children() {
		params, ok := match(strings.Split(template, "/"), segments)
		if !ok || found && len(params) >= len(best.params) {
			continue // of two templates, the one with fewer variables takes precedence
		}
		best, found = operation{node: item.child(strings.ToLower(method)), item: item, params: params}, true
	}
	return best, found && best.value != nil
}

// match compares a template such as /dns/{domain} with the segments of a path.
func match(template, segments []string) (map[string]string, bool) {
	if len(template) != len(segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, want := range template {
		got, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		if name, ok := strings.CutPrefix(want, "{"); ok && got != "" {
			params[strings.TrimSuffix(name, "}")] = got
		} else if got != want {
			return nil, false
		}
	}
	return params, true
}
