package api

import "time"

// WebhookRequest is the body of POST /account/webhooks.
type WebhookRequest struct {
	URL string `json:"url"`
}

// Webhook is an address that the events of a wallet are sent to.
type Webhook struct {
	ID           string    `json:"id"`
	URL          string    `json:"url"`
	Status       string    `json:"status"` // active or disabled
	Secret       string    `json:"secret,omitzero"`
	CreatedAt    time.Time `json:"createdAt"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	DisabledAt   time.Time `json:"disabledAt,omitzero"`
}

// Webhooks has all webhooks of a wallet.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Deliveries is a page of the deliveries of a webhook, newest first.
type Deliveries struct {
	Deliveries []Delivery `json:"deliveries"`
	Total      int        `json:"total"`
	Limit      int        `json:"limit"`
	Offset     int        `json:"offset"`
}

// Delivery is one event for one webhook.
type Delivery struct {
	EventID       string    `json:"eventId"`
	Type          string    `json:"type"`
	Status        string    `json:"status"` // pending, delivered or failed
	Attempts      int       `json:"attempts"`
	CreatedAt     time.Time `json:"createdAt"`
	LastAttemptAt time.Time `json:"lastAttemptAt,omitzero"`
	NextAttemptAt time.Time `json:"nextAttemptAt,omitzero"`
	HTTPStatus    int       `json:"httpStatus,omitzero"`
	Failure       string    `json:"failure,omitzero"`
}

// Calendar is the calendar feed of a wallet. Its address is shown only when the feed
// is created.
type Calendar struct {
	URL       string    `json:"url,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
}

// Deleted is the response to a deletion.
type Deleted struct {
	Deleted bool `json:"deleted"`
}
