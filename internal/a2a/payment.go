package a2a

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// The metadata keys and status values of the x402 extension of A2A.
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

// The id of an offer encodes the request, so that no node has to store it. It
// grants no rights: its holder could just as well send the request.
const (
	offerPrefix     = "offer_"
	maxOfferRequest = 2 << 10
)

type offerRequest struct {
	Skill     string         `json:"s"`
	Arguments jsontext.Value `json:"a"`
}

// offerID returns the id of the offer for a request. A request that is large or
// has a secret in it is not encoded: its payment must come with the data part.
func (r request) offerID() a2a.TaskID {
	var args map[string]jsontext.Value
	_ = json.Unmarshal(r.arguments, &args) // it has been parsed as an object
	delete(args, "access_token")           // the client sends it again in the header
	plain, err1 := encode(args)
	raw, err2 := encode(offerRequest{r.tool.Name, plain})
	if _, secret := args["auth_code"]; err1 != nil || err2 != nil || secret || len(raw) > maxOfferRequest {
		return a2a.TaskID(offerPrefix + string(a2a.NewTaskID()))
	}
	return a2a.TaskID(offerPrefix + base64.RawURLEncoding.EncodeToString(raw))
}

// parseOfferID returns the request that the id of an offer encodes.
func parseOfferID(id string) (request, bool) {
	text, ok := strings.CutPrefix(id, offerPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var in offerRequest
	if !ok || err != nil || json.Unmarshal(raw, &in) != nil {
		return request{}, false
	}
	tool, found := agent.Find(in.Skill)
	return request{tool: tool, arguments: in.Arguments}, found && tool.Paid
}

// offer returns the current offer for a request. An offer that cannot be made now, because
// a token is missing or the service is down, still stands.
func (h *requestHandler) offer(ctx context.Context, r request) (*a2a.Task, error) {
	a, err := h.run(ctx, r)
	if err != nil {
		return nil, err
	}
	if task, ok := r.reply(a).(*a2a.Task); ok {
		return task, nil
	}
	var said api.Error
	_ = json.Unmarshal(a.Body, &said) // an answer that is no error has none of its members
	switch text := said.Code + ": " + said.Message; {
	case a.Status == http.StatusUnauthorized:
		return nil, a2a.NewError(a2a.ErrUnauthenticated, text)
	case a.Status == http.StatusForbidden:
		return nil, a2a.NewError(a2a.ErrUnauthorized, text)
	case a.Status == http.StatusTooManyRequests || a.Status >= http.StatusInternalServerError:
		return nil, a2a.NewError(a2a.ErrServerError, text)
	case a.Done():
		return nil, a2a.NewError(a2a.ErrTaskNotFound, "this offer does not stand any more: ask again")
	default:
		return nil, a2a.NewError(a2a.ErrTaskNotFound, "this offer does not stand any more: "+text)
	}
}

// unpaid returns the task for a request without a valid payment, with the offer
// if there is one to pay.
func (r request) unpaid(a agent.Answer) *a2a.Task {
	var body struct {
		api.PaymentRequired
		Accepts jsontext.Value `json:"accepts"`
	}
	_ = json.Unmarshal(a.Body, &body) // this service encoded it
	meta, state := map[string]any{keyStatus: statusRequired}, a2a.TaskStateInputRequired
	if r.payment.Header != "" {
		meta, state = map[string]any{keyStatus: statusFailed, keyError: body.Code}, a2a.TaskStateFailed
	}
	if len(body.Accepts) > 2 { // [] means do not pay
		meta[keyRequired] = map[string]any{"x402Version": 1, "error": body.Message, "accepts": body.Accepts}
	}
	receipt(a.Header, meta)
	text := body.Message
	if state == a2a.TaskStateInputRequired {
		text += ". To pay, sign one of accepts and send a message with this taskId and the payment in its metadata " + keyPayload + "."
	}
	return r.task(r.offerID(), state, text, a.Body, meta)
}

// declined returns the task of an offer that the caller has declined. No node stores
// offers, so it cannot say whether this one was paid for before.
func (r request) declined() *a2a.Task {
	const text = "The offer is declined. If you have sent a payment for it, that order goes on: send the same payment again to see it."
	return r.task(r.offerID(), a2a.TaskStateCanceled, text, nil, map[string]any{keyStatus: statusRejected})
}

// receipt adds the settlement response of the payment to the metadata, if any.
func receipt(h http.Header, meta map[string]any) {
	text := ""
	for _, name := range []string{"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"} { // at most one is set; neither is in canonical form
		text += strings.Join(h[name], "")
	}
	var in api.SettleResponse
	raw, err := base64.StdEncoding.DecodeString(text)
	if text == "" || err != nil || json.Unmarshal(raw, &in) != nil {
		return
	}
	meta[keyReceipts] = []any{jsontext.Value(raw)}
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
