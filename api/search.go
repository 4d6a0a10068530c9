package api

// SearchResult is the answer of GET /domains/search (interface document, 2.6).
type SearchResult struct {
	Query   string  `json:"query"` // as it was sent
	Results []Found `json:"results"`
}

// CheckResult is the answer of GET /domains/check.
type CheckResult struct {
	Results []Found `json:"results"`
}

// Found says whether one name can be registered, and for how much. The prices
// are there when the name is available.
type Found struct {
	Domain       string `json:"domain"`
	TLD          string `json:"tld"`
	Available    bool   `json:"available"`
	Premium      bool   `json:"premium,omitzero"`
	Price        string `json:"priceUsd,omitzero"`
	PriceCents   int64  `json:"priceCents,omitzero"`
	RenewalPrice string `json:"renewalPriceUsd,omitzero"`
	Reason       string `json:"reason,omitzero"` // taken, reserved, invalid, unknown; "" when available
}
