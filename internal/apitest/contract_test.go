package apitest

import (
	"strings"
	"testing"
)

// TestExamplesFollowTheirSchemas also compiles every schema.
func TestExamplesFollowTheirSchemas(t *testing.T) {
	c := theContract()
	examples := 0
	var walk func(n node)
	walk = func(n node) {
		schema := n.child("schema")
		if schema.value != nil {
			if _, err := c.schema(schema); err != nil {
				t.Error(err)
			}
			for _, value := range exampleValues(n) {
				examples++
				for _, problem := range c.checkValue(n.pointer, schema, value) {
					t.Error(problem)
				}
			}
			return
		}
		for _, child := range n.children() {
			walk(child)
		}
	}
	walk(c.root())
	if examples == 0 {
		t.Error("found no example")
	}
}

func exampleValues(n node) []any {
	var values []any
	if example := n.child("example"); example.value != nil {
		values = append(values, example.value)
	}
	for _, example := range n.child("examples").children() {
		values = append(values, example.child("value").value)
	}
	return values
}

func TestDocumentMustParse(t *testing.T) {
	if _, err := newContract([]byte("a: [")); err == nil || !strings.Contains(err.Error(), "yaml") {
		t.Errorf("got error %v, want one of the parser", err)
	}
}
