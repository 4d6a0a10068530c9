package api

import "time"

// Account is the account of a wallet. Field names in mixed styles are kept for
// existing clients.
type Account struct {
	WalletAddressOld  string    `json:"wallet_address"`
	WalletAddress     string    `json:"walletAddress"`
	CreatedAt         time.Time `json:"created_at"`
	LastActiveAt      time.Time `json:"last_active_at"`
	TotalSpentCents   int64     `json:"total_spent_cents"`
	TotalSpent        string    `json:"total_spent_usd"`
	Refunded          string    `json:"refunded_usd"`
	DomainsRegistered int       `json:"domains_registered"`
	ActiveDomains     int       `json:"active_domains"`
	ExpiringSoon      int       `json:"expiring_soon"`
}

// Transactions is a page of a wallet's payments and refunds.
type Transactions struct {
	Transactions []Transaction `json:"transactions"`
	PageFields
}

// PageFields say which part of a list a page is. One that was requested by a cursor has
// neither a total nor an offset.
type PageFields struct {
	Total  Count  `json:"total,omitzero"`
	Limit  int    `json:"limit"`
	Offset Count  `json:"offset,omitzero"`
	Next   string `json:"next,omitzero"` // the cursor of the next page; empty on the last
}

// A Count is a number that may be missing, which is NoCount.
type Count int

// NoCount is a count that is not given.
const NoCount Count = -1

// IsZero makes JSON leave out a count that is not given.
func (c Count) IsZero() bool { return c < 0 }

// Transaction is one payment or refund.
type Transaction struct {
	TransactionID string    `json:"transactionId"`
	Type          string    `json:"type"`
	Domain        string    `json:"domain"`
	Status        string    `json:"status"`
	Price         string    `json:"price_usd"`
	Currency      string    `json:"currency"`
	Network       string    `json:"network"`
	TxHash        *string   `json:"txHash"`
	Payer         string    `json:"payer"`
	JobID         string    `json:"jobId,omitzero"`
	RecordID      string    `json:"recordId,omitzero"` // of the DNS record that was added, updated or deleted
	CreatedAt     time.Time `json:"createdAt"`
	Reason        string    `json:"reason,omitzero"` // of the refund of a part
}
