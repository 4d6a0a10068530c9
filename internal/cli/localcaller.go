package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/wirejson"
)

// callTimeout limits one call. A payment with an unknown outcome stays in the
// journal, and the same call repeats it.
const callTimeout = 90 * time.Second

// A localCaller calls the service for an agent on this machine. Its wallet signs
// in, and pays within the user's limits; prices in the agent's arguments are not
// consent. It enforces the limits itself, whatever tools the agent was offered.
type localCaller struct {
	client  *client.Client
	consent agent.Consent
}

// Call implements agent.Caller.
func (l localCaller) Call(ctx context.Context, c agent.Call) (agent.Answer, error) {
	quote := c.Paid && asksForQuote(c.Body)
	switch {
	case c.Payment.Header != "":
		return refusal(client.CodePaymentInvalid, "this server pays with the local wallet and takes no payment of another", "connect to /mcp of the service over HTTP to pay with your own wallet"), nil
	case c.Paid && !quote && l.consent.Wallet == "":
		return refusal(client.CodePaymentRequired, "nothing was signed: "+l.consent.Problem, "tell the user"), nil
	case c.Paid && !quote && !l.consent.Spends():
		return refusal(client.CodePaymentRequired, "nothing was signed: no spending limits are set", "dry_run true returns the price. To buy, a person starts deed mcp with both --max-price and --budget"), nil
	}
	r := client.Raw{Method: c.Method, Path: c.Path, Query: c.Query, Body: c.Body, Header: http.Header{}}
	r.SignIn = c.SignedIn && c.Bearer == "" && l.consent.Wallet != ""
	r.MayCost = c.Paid && !quote
	c.SetHeaders(r.Header)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a, err := l.client.Raw(ctx, r)
	if err != nil {
		return overLimit(err)
	}
	out := agent.Answer{Status: a.Status, Header: a.Header, Body: a.Body}
	if a.Status == http.StatusPaymentRequired {
		return l.unpaid(out, r.MayCost), nil
	}
	return out, nil
}

// asksForQuote reports whether a body asks for a dry run. Such a call must not be
// paid, whatever the service responds.
func asksForQuote(body []byte) bool {
	var in struct {
		DryRun bool `json:"dryRun"`
	}
	return json.Unmarshal(body, &in) == nil && in.DryRun
}

// refusal returns a local error in the format of the service's errors.
func refusal(code, message, hint string) agent.Answer {
	status, title := http.StatusPaymentRequired, "Payment required"
	if code == client.CodePaymentInvalid {
		title = "Payment invalid"
	}
	body, _ := wirejson.Marshal(api.Error{Error: title, Code: code, Message: message, Hint: hint}) // strings cannot make it fail
	return agent.Answer{Status: status, Header: http.Header{}, Body: body}
}

// overLimit returns the answer to a call that exceeds the user's limits.
func overLimit(err error) (agent.Answer, error) {
	if over, ok := errors.AsType[*client.OverCap](err); ok {
		return refusal(client.CodePaymentRequired, "nothing was signed: "+over.Error(),
			fmt.Sprintf("only a person can raise the limit of one call: deed mcp --max-price %s", over.Offer.Price)), nil
	}
	if over, ok := errors.AsType[*client.OverBudget](err); ok {
		return refusal(client.CodePaymentRequired, "nothing was signed: "+over.Error(),
			"the budget is for all calls of this run, and what was signed once stays spent; only a person can start another run with another deed mcp --budget"), nil
	}
	return agent.Answer{}, err
}

// unpaid removes the offer from a 402: the agent cannot pay it, and must not be
// asked to.
func (l localCaller) unpaid(a agent.Answer, signed bool) agent.Answer {
	var said api.Error
	if json.Unmarshal(a.Body, &said) != nil || said.Code == "" {
		said = api.Error{Error: "Payment required", Code: client.CodePaymentRequired, Message: "the service asks for a payment"}
	}
	switch {
	case !signed:
		said.Hint = "nothing was signed"
	case said.Code == client.CodePaymentInsufficient:
		said.Hint = fmt.Sprintf("a person must send USDC to %s. What was signed stays counted in the budget of this run", l.consent.Wallet)
	default:
		said.Hint = "what was signed stays counted in the budget of this run. Tell whom you work for"
	}
	body, _ := wirejson.Marshal(said) // strings cannot make it fail
	header := a.Header.Clone()
	header.Del("PAYMENT-REQUIRED")
	header.Del(api.NextHeader) // the hint above takes its place
	return agent.Answer{Status: a.Status, Header: header, Body: body}
}
