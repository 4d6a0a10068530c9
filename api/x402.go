package api

// The bodies and headers of x402, versions 1 and 2. Header values are padded
// standard base64 of JSON.

// PaymentOffer is the offer of version 2, in the header PAYMENT-REQUIRED.
type PaymentOffer struct {
	X402Version int              `json:"x402Version"`
	Error       string           `json:"error,omitzero"`
	Resource    Resource         `json:"resource"`
	Accepts     []RequirementsV2 `json:"accepts"`
	Extensions  map[string]any   `json:"extensions,omitzero"`
}

// Bazaar is the extension "bazaar" of an offer: an example and the schema of the
// request and the response.
type Bazaar struct {
	Info   BazaarInfo     `json:"info"`
	Schema map[string]any `json:"schema"` // of Info (JSON Schema 2020-12)
}

// BazaarInfo is an example of a call.
type BazaarInfo struct {
	Input struct {
		Type     string `json:"type"` // "http"
		Method   string `json:"method"`
		BodyType string `json:"bodyType"` // "json"
		Body     any    `json:"body"`
	} `json:"input"`
	Output struct {
		Type    string `json:"type"` // "json"
		Example any    `json:"example"`
	} `json:"output"`
}

// Resource is the paid resource.
type Resource struct {
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
	MimeType    string `json:"mimeType,omitzero"`
}

// RequirementsV2 are payment requirements of version 2.
type RequirementsV2 struct {
	Scheme            string       `json:"scheme"`
	Network           string       `json:"network"` // CAIP-2
	Amount            string       `json:"amount"`  // millionths of a USDC
	Asset             string       `json:"asset"`
	PayTo             string       `json:"payTo"`
	MaxTimeoutSeconds int          `json:"maxTimeoutSeconds"`
	Extra             PaymentExtra `json:"extra"`
}

// RequirementsV1 are payment requirements of version 1.
type RequirementsV1 struct {
	Scheme            string       `json:"scheme"`
	Network           string       `json:"network"` // a name
	MaxAmountRequired string       `json:"maxAmountRequired"`
	Price             string       `json:"price"` // the same in USDC, for display
	Resource          string       `json:"resource"`
	Description       string       `json:"description"`
	MimeType          string       `json:"mimeType"`
	PayTo             string       `json:"payTo"`
	MaxTimeoutSeconds int          `json:"maxTimeoutSeconds"`
	Asset             string       `json:"asset"`
	Extra             PaymentExtra `json:"extra"`
}

// PaymentExtra has the fields of the token's EIP-712 domain.
type PaymentExtra struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	PaymentFlow string `json:"paymentFlow,omitzero"`
}

// PaymentHeader is a payment, of either version.
type PaymentHeader struct {
	X402Version int             `json:"x402Version"`
	Scheme      string          `json:"scheme"`   // version 1
	Network     string          `json:"network"`  // version 1
	Accepted    *RequirementsV2 `json:"accepted"` // version 2
	Payload     struct {
		Signature     string                `json:"signature"`
		Authorization *PaymentAuthorization `json:"authorization"`
	} `json:"payload"`
}

// PaymentAuthorization is what a payer signs (EIP-3009), with its numbers in
// decimal digits.
type PaymentAuthorization struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Value       string `json:"value"`
	ValidAfter  string `json:"validAfter"`
	ValidBefore string `json:"validBefore"`
	Nonce       string `json:"nonce"`
}

// SettleResponse is the receipt, in PAYMENT-RESPONSE or X-PAYMENT-RESPONSE.
type SettleResponse struct {
	Success     bool   `json:"success"`
	ErrorReason string `json:"errorReason,omitzero"`
	Payer       string `json:"payer,omitzero"`
	Transaction string `json:"transaction"`
	Network     string `json:"network"`
}

// PaymentRequired is the body of every 402: an Error, and the offer of version 1.
// An empty Accepts means: do not pay.
type PaymentRequired struct {
	Error
	Reason      string           `json:"reason,omitzero"`
	Domain      string           `json:"domain,omitzero"`
	Price       string           `json:"price_usd,omitzero"`
	Years       int              `json:"years,omitzero"`
	Currency    string           `json:"currency"`
	Network     string           `json:"network"`
	JobID       string           `json:"jobId,omitzero"`
	X402Version int              `json:"x402Version"`
	Accepts     []RequirementsV1 `json:"accepts"`
}
