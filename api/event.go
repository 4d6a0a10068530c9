package api

import "time"

// Events is a page of what happened to the names and payments of a wallet, oldest
// first.
type Events struct {
	Events  []Event `json:"events"`
	Cursor  string  `json:"cursor"` // of the last event, to continue after it
	HasMore bool    `json:"hasMore"`
}

// Event is something that happened.
type Event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	Cursor    string    `json:"cursor"`
	Data      EventData `json:"data"`
}

// EventData is what an event says; it has the fields that its type needs.
type EventData struct {
	Domain    string    `json:"domain,omitzero"`
	Kind      string    `json:"kind,omitzero"`
	JobID     string    `json:"jobId,omitzero"`
	PaymentID string    `json:"paymentId,omitzero"`
	RefundID  string    `json:"refundId,omitzero"`
	Amount    string    `json:"amount_usd,omitzero"`
	TxHash    string    `json:"txHash,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	DaysLeft  int       `json:"daysLeft,omitzero"`
	Serial    uint32    `json:"serial,omitzero"`
	NewOwner  string    `json:"newOwner,omitzero"`
	WebhookID string    `json:"webhookId,omitzero"`
	MandateID string    `json:"mandateId,omitzero"`
	Price     string    `json:"price_usd,omitzero"` // of a renewal by mandate; Amount is what was paid
	Reason    string    `json:"reason,omitzero"`
}
