package httpapi

import (
	"errors"
	"fmt"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/order"
)

// An offer is the content of a 402 response.
type offer struct {
	quote  order.Quote
	domain deed.Name
	jobID  string // of the purchase that the payment belongs to; then there is no offer

	// Of the request's payment, if it was accepted and ended without a transfer: its version
	// of x402, and the payment.
	version int
	ended   order.Payment

	extensions map[string]any // of version 2
}

// failUnpaid responds with 402 and the offer in both versions of x402.
func (s *Server) failUnpaid(w http.ResponseWriter, r *http.Request, err error, o offer) error {
	e, ok := errors.AsType[*deed.Error](err)
	if !ok {
		return err
	}
	if s.Sandbox != nil && e.Code == deed.CodePaymentInsufficient {
		with := *e
		with.Next = deed.Next{Action: deed.ActionGetTestMoney}
		e = &with
	}
	reason := reasonOf(err)
	resource := api.Resource{URL: s.PublicURL + r.URL.EscapedPath(), Description: o.quote.For, MimeType: "application/json"}
	v2 := api.PaymentOffer{X402Version: 2, Error: reason, Resource: resource, Accepts: []api.RequirementsV2{}, Extensions: o.extensions}
	out := api.PaymentRequired{
		Error: s.errorBody(w.Header(), http.StatusPaymentRequired, e), Reason: reason, Domain: string(o.domain), Years: o.quote.Years,
		Currency: currency, Network: s.Terms.NetworkV1, JobID: o.jobID, X402Version: 1, Accepts: []api.RequirementsV1{},
	}
	if o.quote.Amount > 0 && !errors.Is(err, order.ErrNoOffer) {
		out.Price = o.quote.Amount.String()
		out.Accepts = append(out.Accepts, s.requirementsV1(o.quote, resource))
		v2.Accepts = append(v2.Accepts, s.requirementsV2(o.quote))
	}
	if o.ended.State.EndedUnpaid() {
		s.setReceipt(w.Header(), o.version, o.ended) // as x402 has it when a settlement fails (HTTP transport)
	}
	w.Header()["PAYMENT-REQUIRED"] = []string{encodeHeader(v2)}
	w.Header().Set("Cache-Control", "no-store")
	s.reply(w, http.StatusPaymentRequired, out)
	return nil
}

func (s *Server) requirementsV1(q order.Quote, resource api.Resource) api.RequirementsV1 {
	return api.RequirementsV1{
		Scheme: exact, Network: s.Terms.NetworkV1, MaxAmountRequired: fmt.Sprint(int64(q.Amount)), Price: q.Amount.String(), Resource: resource.URL, Description: resource.Description,
		MimeType: resource.MimeType, PayTo: s.Terms.PayTo, MaxTimeoutSeconds: paymentTimeoutSeconds, Asset: s.Terms.Asset,
		Extra: api.PaymentExtra{Name: s.Terms.TokenName, Version: s.Terms.TokenVersion},
	}
}

func (s *Server) requirementsV2(q order.Quote) api.RequirementsV2 {
	return api.RequirementsV2{
		Scheme: exact, Network: s.Terms.NetworkV2, Amount: fmt.Sprint(int64(q.Amount)), Asset: s.Terms.Asset, PayTo: s.Terms.PayTo, MaxTimeoutSeconds: paymentTimeoutSeconds,
		Extra: api.PaymentExtra{Name: s.Terms.TokenName, Version: s.Terms.TokenVersion, PaymentFlow: "upfront"},
	}
}
