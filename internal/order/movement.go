package order

import (
	"time"

	"deed.example/deed"
)

// A Movement is a payment that a wallet made, or its refund.
type Movement struct {
	PaymentID string
	PublicID  string // of the payment, or of its refund
	JobID     string // as callers know it; "" when there is none
	Refund    bool
	Kind      PurchaseKind
	Name      deed.Name
	State     PaymentState
	Amount    deed.USDC
	TxHash    string
	Payer     deed.Wallet
	At        time.Time
}
