package agent

import (
	"encoding/base64"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/wirejson"
)

// A Payment is an x402 payment in the encoding of its header: base64 of JSON. The
// zero Payment means that there is none.
type Payment struct {
	Header  string
	Version int // 1 or 2
}

// PaymentOf returns the payment in a message: an object, or the base64 of one, in
// either version of x402; nil means none. An invalid payment is passed on, so
// that it is rejected as it would be over HTTP.
func PaymentOf(v any) Payment {
	var raw []byte
	p := Payment{Version: 2}
	switch v := v.(type) {
	case nil:
		return Payment{}
	case string:
		p.Header = v
		raw, _ = base64.StdEncoding.DecodeString(v) // if it is not base64, it has no version
	default:
		raw, _ = wirejson.Marshal(v) // it came as JSON
		p.Header = base64.StdEncoding.EncodeToString(raw)
	}
	var payload struct {
		Version int `json:"x402Version"`
	}
	if json.Unmarshal(raw, &payload) == nil && payload.Version == 1 {
		p.Version = 1
	}
	if p.Header == "" {
		p.Header = "-" // an invalid payment, not a missing one
	}
	return p
}
