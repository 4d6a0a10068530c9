package a2a

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// The keys and words of the extension that payments travel by.
const (
	keyStatus   = "x402.payment.status"
	keyRequired = "x402.payment.required"
	keyPayload  = "x402.payment.payload"
	keyReceipts = "x402.payment.receipts"
	keyError    = "x402.payment.error"

	statusRequired  = "payment-required"
	statusRejected  = "payment-rejected"
	statusSubmitted = "payment-submitted"
	statusCompleted = "payment-completed"
	statusFailed    = "payment-failed"
)

func status(m *a2a.Message) string {
	s, _ := m.Metadata[keyStatus].(string)
	return s
}

// An offer's id carries the request, so that no node has to remember it. It
// gives no rights: whoever has it could send the same request.
const (
	offerPrefix = "offer_"
	maxCarried  = 2 << 10
)

type carriedRequest struct {
	Skill     string          `json:"s"`
	Arguments json.RawMessage `json:"a"`
}

// offerID returns the id of the offer for a request. A request that is large or
// has a secret in it is not carried: its payment comes with the data part.
func (r request) offerID() a2a.TaskID {
	var args map[string]json.RawMessage
	_ = json.Unmarshal(r.arguments, &args) // it was an object when it was read
	delete(args, "access_token")           // it comes again in the header
	plain, err1 := json.Marshal(args)
	raw, err2 := json.Marshal(carriedRequest{r.tool.Name, plain})
	if _, secret := args["auth_code"]; err1 != nil || err2 != nil || secret || len(raw) > maxCarried {
		return a2a.TaskID(offerPrefix + string(a2a.NewTaskID()))
	}
	return a2a.TaskID(offerPrefix + base64.RawURLEncoding.EncodeToString(raw))
}

// carried returns the request that an offer's id carries.
func carried(id string) (request, bool) {
	text, ok := strings.CutPrefix(id, offerPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var in carriedRequest
	if !ok || err != nil || json.Unmarshal(raw, &in) != nil {
		return request{}, false
	}
	tool, found := agent.Find(in.Skill)
	return request{tool: tool, arguments: in.Arguments}, found && tool.Paid
}

// unpaid is the answer to a request that was not paid for, or not well. Where
// paying is right, the offer is with it.
func (r request) unpaid(a agent.Answer) *a2a.Task {
	var body struct {
		api.PaymentRequired
		Accepts json.RawMessage `json:"accepts"`
	}
	_ = json.Unmarshal(a.Body, &body) // it is ours
	meta, state := map[string]any{keyStatus: statusRequired}, a2a.TaskStateInputRequired
	if r.payment.Header != "" {
		meta, state = map[string]any{keyStatus: statusFailed, keyError: body.Code}, a2a.TaskStateFailed
	}
	if len(body.Accepts) > 2 { // [] says not to pay
		meta[keyRequired] = map[string]any{"x402Version": 1, "error": body.Message, "accepts": body.Accepts}
	}
	receipt(a.Header, meta)
	words := body.Message
	if state == a2a.TaskStateInputRequired {
		words += ". To pay, sign one of accepts and send a message with this taskId and the payment in its metadata " + keyPayload + "."
	}
	return r.task(r.offerID(), state, words, a.Body, meta)
}

// declined is the end of an offer that the caller does not want.
func (r request) declined() *a2a.Task {
	return r.task(r.offerID(), a2a.TaskStateCanceled, "Nothing was bought.", nil, map[string]any{keyStatus: statusRejected})
}

// receipt tells what became of a payment, where the answer says it.
func receipt(h http.Header, meta map[string]any) {
	text := ""
	for _, name := range []string{"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"} { // it is in one of them, spelled as it is sent
		text += strings.Join(h[name], "")
	}
	var in api.SettleResponse
	raw, err := base64.StdEncoding.DecodeString(text)
	if text == "" || err != nil || json.Unmarshal(raw, &in) != nil {
		return
	}
	meta[keyReceipts] = []any{json.RawMessage(raw)}
	if meta[keyStatus] == nil {
		meta[keyStatus] = paidStatus(in.Success)
	}
}

func paidStatus(settled bool) string {
	if settled {
		return statusCompleted
	}
	return statusSubmitted
}
