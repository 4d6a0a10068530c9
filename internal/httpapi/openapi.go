package httpapi

import (
	"fmt"
	"maps"
	"net/http"

	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
)

// openAPI serves the embedded description with our own address in it.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	d, err := s.openAPIDocument()
	if err != nil {
		return err
	}
	return d.serve(w, r)
}

// openAPIDocument is made when it is first asked for; two may make the same.
func (s *Server) openAPIDocument() (*document, error) {
	if d := s.description.Load(); d != nil {
		return d, nil
	}
	v, err := readOpenAPI()
	if err != nil {
		return nil, err
	}
	v["servers"] = []any{map[string]any{"url": s.PublicURL}}
	v["x-agentcash-guidance"] = map[string]any{"llmsTxtUrl": s.PublicURL + "/llms.txt"}
	if s.Contact != "" {
		object(v, "info")["contact"] = map[string]any{"email": s.Contact, "url": s.PublicURL}
	}
	s.tellPrices(v)
	d := newDocument(v).compressed()
	s.description.Store(d)
	return d, nil
}

// tellPrices says of every paid call what it costs at least and at most, which is
// the operator's to say. A payment is no credential, and a reader who finds it
// among those would look for an API key: what is left of the security of a paid
// call is who may make it.
func (s *Server) tellPrices(doc map[string]any) {
	least, most := s.Catalog.Range()
	for _, item := range object(doc, "paths") {
		for method := range object(item) {
			op := object(item, method)
			price := object(op, "x-payment-info", "price")
			if price == nil {
				continue
			}
			if price["mode"] == "dynamic" && price["min"] == nil {
				price["min"] = least.String()
			}
			if price["mode"] == "dynamic" {
				price["max"] = most.String()
			}
			op["security"] = []any{withoutPayment(op["security"])}
		}
	}
}

// withoutPayment returns the first way to be allowed to call.
func withoutPayment(security any) map[string]any {
	out := map[string]any{}
	if ways, ok := security.([]any); ok && len(ways) > 0 {
		maps.Copy(out, object(ways[0]))
	}
	delete(out, "paymentSignature")
	return out
}

func readOpenAPI() (map[string]any, error) {
	var v map[string]any
	if err := yaml.Unmarshal(api.OpenAPIYAML, &v); err != nil {
		return nil, fmt.Errorf("read the embedded openapi.yaml: %w", err)
	}
	return v, nil
}
