package discovery

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
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

// operation has the fields of an operation that are used here.
type operation struct {
	Tags        []string              `yaml:"tags"`
	Summary     string                `yaml:"summary"`
	Description string                `yaml:"description"`
	Security    []map[string][]string `yaml:"security"`
	Payment     *struct {
		Price struct {
			Mode   string `yaml:"mode"`
			Amount string `yaml:"amount"`
		} `yaml:"price"`
	} `yaml:"x-payment-info"`
}

// readDescription returns the calls and the error codes of openapi.yaml, both in
// its order.
func readDescription() ([]call, []string, error) {
	var doc struct {
		Paths      yaml.Node `yaml:"paths"`
		Components struct {
			Schemas struct {
				Code struct {
					Enum []string `yaml:"enum"`
				} `yaml:"Code"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(api.OpenAPIYAML, &doc); err != nil {
		return nil, nil, fmt.Errorf("read the embedded openapi.yaml: %w", err)
	}
	calls, err := readCalls(doc.Paths)
	return calls, doc.Components.Schemas.Code.Enum, err
}

func readCalls(paths yaml.Node) ([]call, error) {
	var out []call
	for i := 0; i+1 < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		for j := 0; j+1 < len(item.Content); j += 2 {
			method := item.Content[j].Value
			if method == "parameters" {
				continue
			}
			var op operation
			if err := item.Content[j+1].Decode(&op); err != nil {
				return nil, fmt.Errorf("read %s %s of openapi.yaml: %w", method, path, err)
			}
			out = append(out, op.call(strings.ToUpper(method), path))
		}
	}
	return out, nil
}

func (op operation) call(method, path string) call {
	c := call{method: method, path: path, topic: op.Tags[0], summary: strings.TrimSpace(op.Summary), description: strings.TrimSpace(op.Description)}
	for _, way := range op.Security {
		if _, ok := way["bearer"]; ok {
			c.bearer = true
		}
	}
	if op.Payment != nil {
		c.price = "the price of the order"
		if op.Payment.Price.Mode == "fixed" {
			c.price = op.Payment.Price.Amount + " USDC"
		}
	}
	return c
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
