package api

// SearchResult says under which TLDs a label is free (interface document, 2.6).
type SearchResult struct {
	Query   string  `json:"query"`
	Results []Found `json:"results"`
}

// CheckResult says which of some names are free.
type CheckResult struct {
	Results []Found `json:"results"`
}

// Found says whether a name is free, and what it costs then or why it is not.
type Found struct {
	Domain       string `json:"domain"`
	TLD          string `json:"tld"`
	Available    bool   `json:"available"`
	Premium      *bool  `json:"premium,omitzero"`
	Price        string `json:"priceUsd,omitzero"`
	PriceCents   int64  `json:"priceCents,omitzero"`
	RenewalPrice string `json:"renewalPriceUsd,omitzero"`
	MinYears     int    `json:"minYears,omitzero"` // when it is more than one
	Reason       string `json:"reason,omitzero"`   // taken, reserved, invalid, unknown
}
