package httpapi

import (
	"maps"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/internal/openapi"
)

// openAPI serves the embedded openapi.yaml with the public URL in it, as JSON.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) error {
	d, err := s.openAPIDocument()
	if err != nil {
		return err
	}
	return d.serve(w, r)
}

// A description is openapi.json with the range of an edition of the price list.
type description struct {
	*document
	lowest, highest deed.USDC
}

// openAPIDocument builds the document on first use, and when the prices have changed.
// Concurrent calls build the same document twice, which is harmless.
func (s *Server) openAPIDocument() (*document, error) {
	lowest, highest := s.Catalog.Range()
	if d := s.description.Load(); d != nil && d.lowest == lowest && d.highest == highest {
		return d.document, nil
	}
	spec, err := openapi.Read()
	if err != nil {
		return nil, err
	}
	v := spec.Root
	v["servers"] = []any{map[string]any{"url": s.PublicURL}}
	v["x-agentcash-guidance"] = map[string]any{"llmsTxtUrl": s.PublicURL + "/llms.txt"}
	if s.Contact != "" {
		openapi.Object(v, "info")["contact"] = map[string]any{"email": s.Contact, "url": s.PublicURL}
	}
	setPrices(spec, lowest, highest)
	d := newDocument(v).compressed()
	s.description.Store(&description{d, lowest, highest})
	return d, nil
}

// setPrices adds the price range of every paid operation, which the operator
// configures. It removes the payment from the security requirements: a payment is
// not a credential, and clients that find it there would look for an API key.
func setPrices(spec *openapi.Document, lowest, highest deed.USDC) {
	for _, op := range spec.Operations {
		price := openapi.Object(op.Object, "x-payment-info", "price")
		if price == nil {
			continue
		}
		if price["mode"] == "dynamic" && price["min"] == nil {
			price["min"] = lowest.String()
		}
		if price["mode"] == "dynamic" {
			price["max"] = highest.String()
		}
		op.Object["security"] = withoutPayment(op.Object["security"])
	}
}

// withoutPayment returns the first security requirement, without the payment. If
// nothing else is required the list is empty: some validating proxies take an empty
// requirement in it to forbid an Authorization header, which orders may have.
func withoutPayment(security any) []any {
	out := map[string]any{}
	if alternatives, ok := security.([]any); ok && len(alternatives) > 0 {
		maps.Copy(out, openapi.Object(alternatives[0]))
	}
	delete(out, "paymentSignature")
	if len(out) == 0 {
		return []any{}
	}
	return []any{out}
}
