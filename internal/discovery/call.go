package discovery

import (
	"strings"

	"deed.example/deed/internal/openapi"
)

// A call is one operation of openapi.yaml.
type call struct {
	method, path string
	topic        string // first tag
	summary      string
	description  string
	bearer       bool
	price        string // as text; "" if it is free
}

func (c call) String() string { return c.method + " " + c.path }

// pointer returns the location of the call in openapi.json (RFC 6901).
func (c call) pointer() string {
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(c.path)
	return "/openapi.json#/paths/" + escaped + "/" + strings.ToLower(c.method)
}

// readDescription returns the calls and the error codes of openapi.yaml, both in
// its order.
func readDescription() (calls []call, codes []string, err error) {
	doc, err := openapi.Read()
	if err != nil {
		return nil, nil, err
	}
	for _, op := range doc.Operations {
		calls = append(calls, newCall(op))
	}
	enum, _ := openapi.Object(doc.Root, "components", "schemas", "Code")["enum"].([]any)
	for _, code := range enum {
		codes = append(codes, textOf(code))
	}
	return calls, codes, nil
}

func newCall(op openapi.Operation) call {
	c := call{method: op.Method, path: op.Path, summary: textOf(op.Object["summary"]), description: textOf(op.Object["description"]), bearer: op.Secured("bearer")}
	if tags, _ := op.Object["tags"].([]any); len(tags) > 0 {
		c.topic = textOf(tags[0])
	}
	if price := openapi.Object(op.Object, "x-payment-info", "price"); price != nil {
		c.price = "the price of the order"
		switch {
		case price["mode"] == "fixed":
			c.price = textOf(price["amount"]) + " USDC"
		case price["min"] != nil:
			c.price = textOf(price["min"]) + " USDC for each change"
		}
	}
	return c
}

// textOf returns v without space around it if it is a string, and "" otherwise.
func textOf(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}

// terms describes the sign-in and the payment that a call needs.
func (c call) terms() string {
	words := []string{"Free"}
	if c.price != "" {
		words[0] = "Costs " + c.price
	}
	if c.bearer {
		words = append(words, "needs a bearer token")
	}
	return strings.Join(words, ", ") + "."
}
