package api

// SearchResult says under which TLDs a label is available (interface document,
// 2.6).
type SearchResult struct {
	Query   string  `json:"query"`
	Results []Found `json:"results"`
}

// CheckResult says which names are available.
type CheckResult struct {
	Results []Found `json:"results"`
}

// Found is the availability of a name, with its price or the reason.
type Found struct {
	Domain       string `json:"domain"`
	TLD          string `json:"tld"`
	Available    bool   `json:"available"`
	Premium      *bool  `json:"premium,omitzero"`
	Price        string `json:"priceUsd,omitzero"`
	PriceCents   int64  `json:"priceCents,omitzero"`
	RenewalPrice string `json:"renewalPriceUsd,omitzero"`
	MinYears     int    `json:"minYears,omitzero"` // if more than one
	Reason       string `json:"reason,omitzero"`   // taken, reserved, invalid, unknown
}
