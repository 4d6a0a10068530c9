package agent

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
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

// withReceipt returns the headers of a response with a receipt for the payment as it is
// now: it may have settled since. The names of the headers are in canonical form only if
// the response came over the network.
func withReceipt(h http.Header, p api.Payment) http.Header {
	out := h.Clone()
	for name, values := range h {
		if !strings.HasSuffix(strings.ToUpper(name), "PAYMENT-RESPONSE") || p.TxHash == nil {
			continue
		}
		var receipt api.SettleResponse
		raw, err := base64.StdEncoding.DecodeString(strings.Join(values, ""))
		if err != nil || json.Unmarshal(raw, &receipt) != nil {
			continue
		}
		receipt.Success, receipt.ErrorReason, receipt.Transaction = true, "", *p.TxHash
		raw, _ = wirejson.Marshal(receipt) // strings cannot make it fail
		out[name] = []string{base64.StdEncoding.EncodeToString(raw)}
	}
	return out
}
