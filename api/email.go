package api

import "time"

// EmailRequest is the body of PUT /account/email.
type EmailRequest struct {
	Address string `json:"address"`
}

// EmailConfirmation is the body of POST /account/email/confirm.
type EmailConfirmation struct {
	Code string `json:"code"`
}

// Email is the address that notices about the names of a wallet are sent to. The local
// part of the address is abbreviated.
type Email struct {
	Address     string    `json:"address"`
	Status      string    `json:"status"` // pending, confirmed or off
	Failure     string    `json:"failure,omitzero"`
	CreatedAt   time.Time `json:"createdAt"`
	ConfirmedAt time.Time `json:"confirmedAt,omitzero"`
}
