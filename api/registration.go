package api

import "time"

// RegisterRequest is the body of POST /domains/register.
type RegisterRequest struct {
	Domain      string          `json:"domain"`
	Years       *int            `json:"years,omitzero"` // nil means the TLD's minimum; 0 is invalid
	DNSRecords  []RecordRequest `json:"dns_records,omitempty"`
	Nameservers []string        `json:"nameservers,omitempty"`
	MaxPrice    *string         `json:"maxPriceUsd,omitzero"` // nil means any price; "0" is invalid
	DryRun      bool            `json:"dryRun,omitzero"`
}

// RenewRequest is the body of POST /domains/renew.
type RenewRequest struct {
	Domain            string    `json:"domain"`
	Years             *int      `json:"years,omitzero"`             // nil means 1; 0 is invalid
	ExpectedExpiresAt time.Time `json:"expectedExpiresAt,omitzero"` // fail unless the name expires at this time
	MaxPrice          *string   `json:"maxPriceUsd,omitzero"`       // as in RegisterRequest
	DryRun            bool      `json:"dryRun,omitzero"`
}

// TransferRequest is the body of POST /domains/transfer.
type TransferRequest struct {
	Domain      string   `json:"domain"`
	AuthCode    string   `json:"authCode"`
	Nameservers []string `json:"nameservers,omitempty"`
	MaxPrice    *string  `json:"maxPriceUsd,omitzero"` // as in RegisterRequest
	DryRun      bool     `json:"dryRun,omitzero"`
}

// Quote is the response to a dry run.
type Quote struct {
	DryRun   bool   `json:"dryRun"`
	Domain   string `json:"domain"`
	Years    int    `json:"years"`
	Price    string `json:"price_usd"`
	Currency string `json:"currency"`
}

// Payment is the state of an order's payment.
type Payment struct {
	Amount  string  `json:"amountUsd"`
	TxHash  *string `json:"txHash"`
	Network string  `json:"network"`
	Payer   string  `json:"payer"`
	Settled bool    `json:"settled"`
}

// Refund is the state of a refund.
type Refund struct {
	Status string  `json:"status"` // due, sent, confirmed
	Amount string  `json:"amount_usd"`
	TxHash *string `json:"txHash"`
	Reason string  `json:"reason,omitzero"` // of the refund of a part
}

// Registration is the response to a completed order: a registration, renewal or
// transfer.
type Registration struct {
	TransactionID string    `json:"transactionId"`
	JobID         string    `json:"jobId"`
	Domain        string    `json:"domain"`
	Status        string    `json:"status"`
	Years         int       `json:"years"`
	Price         string    `json:"price_usd"`
	RegisteredAt  time.Time `json:"registeredAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	Nameservers   []string  `json:"nameservers"`
	DNSRecords    []Record  `json:"dnsRecords"`
	WalletAddress string    `json:"walletAddress"`
	Payment       Payment   `json:"payment"`
	Warnings      []string  `json:"warnings"`

	// For renewals only.
	PreviousExpiresAt time.Time `json:"previousExpiresAt,omitzero"`
	NewExpiresAt      time.Time `json:"newExpiresAt,omitzero"`
	RenewedAt         time.Time `json:"renewedAt,omitzero"`
}

// PendingOrder is the response to an order that is not completed yet.
type PendingOrder struct {
	Status       string  `json:"status"`
	JobID        string  `json:"jobId"`
	Domain       string  `json:"domain"`
	Message      string  `json:"message"`
	PollURL      string  `json:"poll_url"`
	PollInterval int     `json:"poll_interval_ms"`
	Payment      Payment `json:"payment"`
}

// FailedOrder is the response to an order that the registry rejected.
type FailedOrder struct {
	Error
	JobID  string `json:"jobId"`
	Refund Refund `json:"refund"`
}

// Job is the state of an order.
type Job struct {
	ID            string        `json:"id"`
	JobID         string        `json:"jobId"`
	Type          string        `json:"type"`
	Status        string        `json:"status"`
	Completed     bool          `json:"completed"`
	Domain        string        `json:"domain"`
	Years         int           `json:"years"`
	WalletAddress string        `json:"walletAddress"`
	Result        *Registration `json:"result"`
	Payment       Payment       `json:"payment"`
	Refund        *Refund       `json:"refund,omitzero"`
	Agreed        *Agreement    `json:"agreed,omitzero"`
	Steps         []JobStep     `json:"steps"`
	CreatedAt     time.Time     `json:"createdAt"`
	UpdatedAt     time.Time     `json:"updatedAt"`
	DeadlineAt    time.Time     `json:"deadlineAt"`
	PollInterval  int           `json:"poll_interval_ms"`
	Error         string        `json:"error,omitzero"`
	Message       string        `json:"message,omitzero"`
	Code          string        `json:"code,omitzero"`
}

// JobStep is a state of a job and the time when it was reached.
type JobStep struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}
