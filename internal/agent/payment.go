package agent

import (
	"encoding/base64"
	"encoding/json"
)

// A Payment is a payment of x402 as its header carries it: base64 of JSON. The
// zero Payment is none.
type Payment struct {
	Header  string
	Version int // 1 or 2
}

// PaymentOf reads what a message has in the place of a payment: an object, or the
// base64 of one, in either version of x402; nil is none. What cannot be a payment
// is handed on all the same: it is refused as it would be over HTTP.
func PaymentOf(v any) Payment {
	var raw []byte
	p := Payment{Version: 2}
	switch v := v.(type) {
	case nil:
		return Payment{}
	case string:
		p.Header = v
		raw, _ = base64.StdEncoding.DecodeString(v) // then it says no version
	default:
		raw, _ = json.Marshal(v) // it came as JSON
		p.Header = base64.StdEncoding.EncodeToString(raw)
	}
	var said struct {
		Version int `json:"x402Version"`
	}
	if json.Unmarshal(raw, &said) == nil && said.Version == 1 {
		p.Version = 1
	}
	if p.Header == "" {
		p.Header = "-" // there was a payment, and it is no good
	}
	return p
}
