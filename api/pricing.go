package api

import "time"

// TLDPrice is the price of one TLD (interface document, 2.5), with its restore
// fee and its range of years.
type TLDPrice struct {
	TLD               string `json:"tld"`
	RegistrationPrice string `json:"registration_price_usd"`
	RenewalPrice      string `json:"renewal_price_usd"`
	TransferPrice     string `json:"transfer_price_usd"`
	Currency          string `json:"currency"`
	RestorePrice      string `json:"restore_price_usd"`
	MinYears          int    `json:"minYears"`
	MaxYears          int    `json:"maxYears"`

	*TLDSale // not in the whole list
}

// TLDSale is what can be done with the names of a TLD, and what their buyers agree to.
type TLDSale struct {
	Capabilities []string `json:"capabilities"` // "cancel", "ds", "glue", "live_price", "owner_registrant"
	Registrant   string   `json:"registrant"`   // "proxy", "owner_optional" or "owner_required"
	Terms        string   `json:"terms,omitzero"`
	TermsURL     string   `json:"termsUrl,omitzero"`
}

// Pricing is the price list.
type Pricing struct {
	Pricing   []TLDPrice `json:"pricing"`
	Count     int        `json:"count"`
	Currency  string     `json:"currency"`
	UpdatedAt time.Time  `json:"updatedAt"`
}
