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
	var v map[string]any
	if err := yaml.Unmarshal(api.OpenAPIYAML, &v); err != nil {
		return nil, fmt.Errorf("read the embedded openapi.yaml: %w", err)
	}
	v["servers"] = []any{map[string]any{"url": s.PublicURL}}
	d := newDocument(v).compressed()
	s.description.Store(d)
	return d, nil
}
