package app

import (
	"slices"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// Terms are the operator's terms, which buyers agree to. Both are set, or none.
type Terms struct {
	Version string // stored with each order
	URL     string
}

// sale returns what can be done with the names of a TLD, and what their buyers agree to.
func (a *App) sale(tld deed.TLD) *api.TLDSale {
	b, err := a.registrar.Seller(tld)
	if err != nil {
		return nil
	}
	out := &api.TLDSale{Capabilities: []string{"ds"}, Registrant: string(b.Registrant), Terms: a.config.Terms.Version, TermsURL: a.config.Terms.URL}
	_, prices := b.Registrar.(registrar.PriceLister)
	_, glue := registrar.GlueOf(b.Manager)
	for name, can := range map[string]bool{
		"cancel": a.registrar.CancelTerms(b.Name) != (lifecycle.CancelTerms{}), "glue": glue, "live_price": prices, "owner_registrant": b.Registrant.AllowsOwner(),
	} {
		if can {
			out.Capabilities = append(out.Capabilities, name)
		}
	}
	slices.Sort(out.Capabilities)
	return out
}
