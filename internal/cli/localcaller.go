package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	client   *client.Client
	consent  agent.Consent
	askAbove client.USDC
}

// Call implements agent.Caller.
func (l localCaller) Call(ctx context.Context, c agent.Call) (agent.Answer, error) {
	quote := c.Paid && asksForQuote(c)
	switch {
	case c.Payment.Header != "":
		return refusal(client.CodePaymentInvalid, "this server pays with the local wallet and takes no payment of another", "connect to /mcp of the service over HTTP to pay with your own wallet"), nil
	case c.Paid && !quote && l.consent.Wallet == "":
		return refusal(client.CodePaymentRequired, "nothing was signed: "+l.consent.Problem, "tell the user"), nil
	case c.Paid && !quote && !l.consent.Spends():
		return refusal(client.CodePaymentRequired, "nothing was signed: no spending limits are set", "dry_run true returns the price. To buy, a person starts deed mcp with both --max-price and --budget"), nil
	case c.Question != "" && c.Agreed == "":
		return l.askFirst(c), nil
	}
	r := client.Raw{Method: c.Method, Path: c.Path, Query: c.Query, Body: c.Body, Header: http.Header{}}
	r.SignIn = c.SignedIn && c.Bearer == "" && l.consent.Wallet != ""
	r.MayCost = c.Paid && !quote
	r.Confirm = l.confirm(c)
	c.SetHeaders(r.Header)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a, err := l.client.Raw(ctx, r)
	if err != nil {
		return l.refused(err)
	}
	out := agent.Answer{Status: a.Status, Header: a.Header, Body: a.Body}
	if a.Status == http.StatusPaymentRequired {
		return l.unpaid(out, r.MayCost), nil
	}
	return out, nil
}

// askFirst returns the question about a call that can lose a name. A client that
// cannot ask its user cannot make such a call: a model alone must not.
func (l localCaller) askFirst(c agent.Call) agent.Answer {
	a := refusal(client.CodeOwnershipDenied, "nothing was done: the user has to agree to this first", "the user can do it with the command deed domain")
	if c.Asks {
		a.Question = &agent.Question{Price: "0.00", Text: clean(c.Question)}
	}
	return a
}

// confirm returns what is asked before a payment for a call is signed. A price up
// to askAbove needs no answer, and neither does a client that cannot ask: there the
// limits are the consent.
func (l localCaller) confirm(c agent.Call) func(context.Context, client.Offer) error {
	return func(_ context.Context, o client.Offer) error {
		if o.Price <= l.askAbove || !c.Asks {
			return nil
		}
		if c.Agreed == "" {
			return &needsConsent{o}
		}
		if agreed, err := client.ParseUSDC(c.Agreed); err != nil || o.Price > agreed {
			return paymentError{fmt.Errorf("the price is %s USDC now, and the user agreed to %s", o.Price, c.Agreed)}
		}
		return nil
	}
}

// needsConsent is the error for a price that the user has to agree to first.
type needsConsent struct{ offer client.Offer }

func (e *needsConsent) Error() string {
	return fmt.Sprintf("the user has to agree to %s USDC first", e.offer.Price)
}

// asksForQuote reports whether a call asks for a dry run, in its body or its query.
// Such a call must not be paid, whatever the service responds.
func asksForQuote(c agent.Call) bool {
	if c.Query.Get("dryRun") == "true" {
		return true
	}
	var in struct {
		DryRun bool `json:"dryRun"`
	}
	return !c.Text && json.Unmarshal(c.Body, &in) == nil && in.DryRun
}

// refusal returns a local error in the format of the service's errors.
func refusal(code, message, hint string) agent.Answer {
	status, title := http.StatusPaymentRequired, "Payment required"
	switch code {
	case client.CodePaymentInvalid:
		title = "Payment invalid"
	case client.CodeOwnershipDenied:
		status, title = http.StatusForbidden, "Ownership denied"
	}
	body, _ := wirejson.Marshal(api.Error{Error: title, Code: code, Message: message, Hint: hint}) // strings cannot make it fail
	return agent.Answer{Status: status, Header: http.Header{}, Body: body}
}

// refused returns the answer to a call that exceeds the user's limits, or that the
// user has to be asked about.
func (l localCaller) refused(err error) (agent.Answer, error) {
	if ask, ok := errors.AsType[*needsConsent](err); ok {
		a := refusal(client.CodePaymentRequired, "nothing was signed: "+ask.Error(), "tell the user the price")
		a.Question = &agent.Question{Price: ask.offer.Price.String(), Text: fmt.Sprintf("Pay %s USDC from %s? %s.", ask.offer.Price, l.consent.Wallet, strings.TrimSuffix(clean(ask.offer.For), "."))}
		return a, nil
	}
	if changed, ok := errors.AsType[paymentError](err); ok {
		return refusal(client.CodePaymentRequired, "nothing was signed: "+changed.Error(), "make the call again: the user is asked about the new price"), nil
	}
	if over, ok := errors.AsType[*client.OverCap](err); ok {
		return refusal(client.CodePaymentRequired, "nothing was signed: "+over.Error(),
			fmt.Sprintf("only a person can raise the limit of one call: deed mcp --max-price %s", over.Offer.Price)), nil
	}
	if over, ok := errors.AsType[*client.OverBudget](err); ok {
		return refusal(client.CodePaymentRequired, "nothing was signed: "+over.Error(),
			"the budget is for all calls of this run, and what was signed once stays spent; only a person can start another run with another deed mcp --budget"), nil
	}
	if text, ok := unreachable(err); ok && !isUnknown(err) {
		return agent.Answer{}, errors.New(text)
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
