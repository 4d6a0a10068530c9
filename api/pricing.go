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
}

// Pricing is the price list.
type Pricing struct {
	Pricing   []TLDPrice `json:"pricing"`
	Count     int        `json:"count"`
	Currency  string     `json:"currency"`
	UpdatedAt time.Time  `json:"updatedAt"`
}
