package deed

import "time"

// An Account is what we know of a wallet.
type Account struct {
	Wallet       Wallet
	Created      time.Time // the first sign-in
	LastActive   time.Time
	Spent        USDC // what it paid and does not get back
	Refunded     USDC
	Domains      int // names it holds, in any state
	Active       int
	ExpiringSoon int
}

// A Movement is a payment that a wallet made, or its refund.
type Movement struct {
	PaymentID string
	PublicID  string // of the payment, or of its refund
	JobID     string // as callers know it; "" when there is none
	Refund    bool
	Kind      PurchaseKind
	Name      Name
	State     PaymentState
	Amount    USDC
	TxHash    string
	Payer     Wallet
	At        time.Time
}

// A Held is a name of a wallet, with what happened to it.
type Held struct {
	Registration
	Events []Event
}

// A Page is a part of a list.
type Page struct{ Limit, Offset int }
