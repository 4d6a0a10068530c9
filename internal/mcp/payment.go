package mcp

import (
	"encoding/base64"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// The keys of x402 in the metadata of a message. Some clients send the payment as
// an object, others as the base64 of the HTTP header; some look for an offer in
// the structured content, others under metaError.
const (
	metaPayment = "x402/payment"
	metaError   = "x402/error"
	metaReceipt = "x402/payment-response"
)

// offerOf returns the offer of a 402 response in x402 version 2.
func offerOf(a agent.Answer) (jsontext.Value, bool) {
	raw, err := base64.StdEncoding.DecodeString(first(a.Header, "PAYMENT-REQUIRED"))
	return raw, a.Status == http.StatusPaymentRequired && err == nil && jsontext.Value(raw).IsValid()
}

// unpaid adds the offer to an error result, with the code and the message of the
// service beside it. The first text is the offer again, for programs; the second is
// for the model or the user, who decides.
func unpaid(r *mcp.CallToolResult, offer jsontext.Value, a agent.Answer) *mcp.CallToolResult {
	offer = withCode(offer, a.Body)
	r.StructuredContent = offer
	r.Content = []mcp.Content{&mcp.TextContent{Text: string(offer)}}
	if r.Meta == nil {
		r.Meta = mcp.Meta{}
	}
	r.Meta[metaError] = offer
	var body api.PaymentRequired
	if json.Unmarshal(a.Body, &body) != nil {
		return r
	}
	text := body.Code + ": " + body.Message
	if body.Hint != "" {
		text += "\n" + body.Hint
	}
	if len(body.Accepts) > 0 {
		text += "\nNothing was done. To pay, sign one of accepts and make the same call again with the payment in _meta[\"" + metaPayment + "\"]. If you have no wallet, tell whom you work for what it costs."
	}
	if body.JobID != "" {
		text += "\nThe payment belongs to " + body.JobID + ": see get_job."
	}
	r.Content = append(r.Content, &mcp.TextContent{Text: text})
	return r
}

// withCode adds the code, the message and the next step of an error to its offer.
// x402 ignores members that it does not know.
func withCode(offer jsontext.Value, body []byte) jsontext.Value {
	var out, said map[string]jsontext.Value
	if json.Unmarshal(offer, &out) != nil || json.Unmarshal(body, &said) != nil {
		return offer
	}
	for _, key := range []string{"code", "message", "hint", "requestId"} {
		if v, ok := said[key]; ok {
			out[key] = v
		}
	}
	raw, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return offer
	}
	return raw
}

// receipt returns the settlement response of a payment, or nil.
func receipt(h http.Header) mcp.Meta {
	for _, name := range []string{"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"} {
		raw, err := base64.StdEncoding.DecodeString(first(h, name))
		if err == nil && jsontext.Value(raw).IsValid() {
			return mcp.Meta{metaReceipt: jsontext.Value(raw)}
		}
	}
	return nil
}

// first returns a header that is all upper case when the response is from this
// process, and canonical when it came over the network.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return h.Get(name)
}
