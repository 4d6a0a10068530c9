package api

import "time"

// MandatePlan is what the owner of a name signs to have it renewed automatically: an
// authorization (EIP-3009) for each coming renewal.
type MandatePlan struct {
	Domain   string        `json:"domain"`
	Price    string        `json:"price_usd"` // of a year, today
	Cap      string        `json:"cap_usd"`   // the most that each renewal may cost
	Currency string        `json:"currency"`
	Token    MandateToken  `json:"token"`
	Renewals []MandateSlot `json:"renewals"`
}

// MandateToken is the EIP-712 domain of the authorizations.
type MandateToken struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	ChainID uint64 `json:"chainId"`
	Address string `json:"verifyingContract"`
}

// MandateSlot is a coming renewal.
type MandateSlot struct {
	ExpiresAt     time.Time    `json:"expiresAt"`    // the expiry that it renews
	NewExpiresAt  time.Time    `json:"newExpiresAt"` // the expiry afterwards
	Signed        bool         `json:"signed"`       // there is a mandate for it already
	Authorization MandateTerms `json:"authorization"`
}

// MandateTerms is an authorization without its nonce, which the wallet chooses.
type MandateTerms struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Value       string `json:"value"`
	ValidAfter  string `json:"validAfter"`
	ValidBefore string `json:"validBefore"`
}

// MandatesRequest is the body of POST /account/mandates/{domain}.
type MandatesRequest struct {
	Mandates []MandateRequest `json:"mandates"`
}

// MandateRequest is one signed authorization.
type MandateRequest struct {
	ExpiresAt     time.Time            `json:"expiresAt"`
	Authorization PaymentAuthorization `json:"authorization"`
	Signature     string               `json:"signature"`
}

// Mandates are the mandates of a name, the latest expiry first.
type Mandates struct {
	Domain    string    `json:"domain"`
	AutoRenew bool      `json:"autoRenew"`
	Message   string    `json:"message,omitzero"`
	Mandates  []Mandate `json:"mandates"`
}

// Mandate is a renewal that was signed in advance.
type Mandate struct {
	ID          string         `json:"id"`
	Status      string         `json:"status"` // active, paying, used, failed, unneeded, revoked
	ExpiresAt   time.Time      `json:"expiresAt"`
	Cap         string         `json:"cap_usd"`
	ValidAfter  time.Time      `json:"validAfter"`
	ValidBefore time.Time      `json:"validBefore"`
	Nonce       string         `json:"nonce"`
	Reason      string         `json:"reason,omitzero"`
	CreatedAt   time.Time      `json:"createdAt"`
	UpdatedAt   time.Time      `json:"updatedAt"`
	Cancel      *MandateCancel `json:"cancel,omitzero"` // what can still be done on the chain
}

// MandateCancel says how the owner makes an authorization worthless on the chain: sign
// CancelAuthorization(address authorizer,bytes32 nonce) of the token, and send
// cancelAuthorization with it. Nothing remains when authorizationState(authorizer,
// nonce) is true.
type MandateCancel struct {
	Token      MandateToken `json:"token"`
	Authorizer string       `json:"authorizer"`
	Nonce      string       `json:"nonce"`
	Until      time.Time    `json:"until"` // afterwards the authorization is worthless anyway
}
