package httpapi

import (
	"fmt"
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
	s.boundPrices(v)
	d := newDocument(v).compressed()
	s.description.Store(d)
	return d, nil
}

// boundPrices says of every order what it costs at least and at most: both are
// the operator's, so the embedded description cannot know them.
func (s *Server) boundPrices(doc map[string]any) {
	least, most := s.Catalog.Range()
	for _, item := range object(doc, "paths") {
		for method := range object(item) {
			if price := object(item, method, "x-payment-info", "price"); price["mode"] == "dynamic" {
				price["min"], price["max"] = least.String(), most.String()
			}
		}
	}
}

func readOpenAPI() (map[string]any, error) {
	var v map[string]any
	if err := yaml.Unmarshal(api.OpenAPIYAML, &v); err != nil {
		return nil, fmt.Errorf("read the embedded openapi.yaml: %w", err)
	}
	return v, nil
}
