package openapi_test

import (
	"reflect"
	"testing"

	"deed.example/deed/internal/openapi"
)

const text = `
paths:
  /b:
    parameters: [{ name: id }]
    post: { security: [{ bearer: [] }], summary: second }
    get: { summary: third }
  /a:
    get: { summary: last }
components:
  schemas:
    Name: { type: string, description: A name. }
    Pair: { properties: { first: { $ref: '#/components/schemas/Name' } } }
`

func parse(t *testing.T) *openapi.Document {
	t.Helper()
	d, err := openapi.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOperationsAreInOrder(t *testing.T) {
	d := parse(t)
	var got []string
	for _, op := range d.Operations {
		got = append(got, op.Method+" "+op.Path)
	}
	if want := []string{"POST /b", "GET /b", "GET /a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	op, ok := d.Operation("POST /b")
	if !ok || op.Object["summary"] != "second" || op.Item["parameters"] == nil || !op.Secured("bearer") || op.Secured("payment") {
		t.Errorf("got %+v", op)
	}
	if _, ok := d.Operation("PUT /b"); ok {
		t.Error("there is no PUT /b")
	}
}

func TestInline(t *testing.T) {
	d := parse(t)
	set := func(out map[string]any, key string, value any) {
		if key != "description" {
			out[key] = value
		}
	}
	got := d.Inline(map[string]any{"$ref": "#/components/schemas/Pair", "title": "Two"}, set)
	want := map[string]any{"title": "Two", "properties": map[string]any{"first": map[string]any{"type": "string"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if first := openapi.Object(d.Root, "components", "schemas", "Pair", "properties", "first"); first["$ref"] == nil {
		t.Error("the document was changed")
	}
}

func TestReadReturnsCopies(t *testing.T) {
	for range 2 {
		d, err := openapi.Read()
		if err != nil {
			t.Fatal(err)
		}
		if op, ok := d.Operation("GET /auth/nonce"); !ok || op.Object["changed"] != nil {
			t.Errorf("got %v, %v", op.Object, ok)
		} else {
			op.Object["changed"] = true
		}
	}
}

func TestBrokenDocument(t *testing.T) {
	if d, err := openapi.Parse([]byte("paths: [")); err == nil {
		t.Errorf("got %+v", d)
	}
}
