package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// An Order is a paid order: it is completed, or pending, and then WaitJob returns
// its result.
type Order struct {
	JobID   string
	Domain  string
	Done    *api.Registration // nil while it is pending
	Pending *api.PendingOrder // nil when it is completed
	Receipt *api.SettleResponse
}

// Register buys a name for the wallet that pays. If the registry rejects the
// order, it returns an Error with the Refund.
func (c *Client) Register(ctx context.Context, in api.RegisterRequest) (Order, error) {
	in.DryRun = false
	bought := in
	bought.MaxPrice = nil
	return c.order(ctx, "/domains/register", in, bought, in.MaxPrice)
}

// QuoteRegistration makes every check of Register and buys nothing.
func (c *Client) QuoteRegistration(ctx context.Context, in api.RegisterRequest) (api.Quote, error) {
	in.DryRun = true
	return call[api.Quote](ctx, c, request{method: "POST", path: "/domains/register"}, in)
}

// Renew adds years to a name. Any wallet may pay; the owner does not change.
//
// While the outcome of a payment for the same name and years is not known, a call with
// another ExpectedExpiresAt repeats that payment, too: if it has renewed the name, a
// caller that reads the expiry again finds a later one.
func (c *Client) Renew(ctx context.Context, in api.RenewRequest) (Order, error) {
	in.DryRun = false
	bought := in
	bought.MaxPrice, bought.ExpectedExpiresAt = nil, time.Time{}
	out, err := c.order(ctx, "/domains/renew", in, bought, in.MaxPrice)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodePaymentInvalid && e.Offer == nil && e.JobID != "" {
		return c.earlierRenewal(ctx, e)
	}
	return out, err
}

// earlierRenewal returns the order of a payment that has renewed a name before, with another
// ExpectedExpiresAt. The service refuses that payment with no, which names the order.
func (c *Client) earlierRenewal(ctx context.Context, no *Error) (Order, error) {
	job, err := c.Job(ctx, no.JobID)
	if err != nil {
		return Order{}, errors.Join(no, err)
	}
	out := Order{JobID: job.JobID, Domain: job.Domain, Done: job.Result}
	if out.Done == nil {
		out.Pending = &api.PendingOrder{
			Status: "pending", JobID: job.JobID, Domain: job.Domain, Message: job.Message,
			PollURL: path("domains", "status", job.JobID), PollInterval: job.PollInterval, Payment: job.Payment,
		}
	}
	return out, JobError(job)
}

// QuoteRenewal makes every check of Renew and buys nothing.
func (c *Client) QuoteRenewal(ctx context.Context, in api.RenewRequest) (api.Quote, error) {
	in.DryRun = true
	return call[api.Quote](ctx, c, request{method: "POST", path: "/domains/renew"}, in)
}

// Transfer transfers a name in from another registrar, for the wallet that pays.
func (c *Client) Transfer(ctx context.Context, in api.TransferRequest) (Order, error) {
	in.DryRun = false
	bought := in
	bought.MaxPrice = nil
	return c.order(ctx, "/domains/transfer", in, bought, in.MaxPrice)
}

// QuoteTransfer makes every check of Transfer and buys nothing.
func (c *Client) QuoteTransfer(ctx context.Context, in api.TransferRequest) (api.Quote, error) {
	in.DryRun = true
	return call[api.Quote](ctx, c, request{method: "POST", path: "/domains/transfer"}, in)
}

// order makes a paid call. Bought is the request without its price limit: a call
// that differs only in the limit repeats an open payment instead of paying again.
func (c *Client) order(ctx context.Context, path string, in, bought any, maxPrice *string) (Order, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Order{}, fmt.Errorf("write the request: %w", err)
	}
	identity, err := json.Marshal(bought)
	if err != nil {
		return Order{}, fmt.Errorf("write the request: %w", err)
	}
	a, err := c.do(ctx, request{method: "POST", path: path, body: body, identity: identity, paid: true, maxPrice: maxPrice})
	if err != nil {
		return Order{}, err
	}
	if a.status == http.StatusAccepted {
		pending, err := read[api.PendingOrder](a)
		return Order{JobID: pending.JobID, Domain: pending.Domain, Pending: &pending, Receipt: a.receipt()}, err
	}
	done, err := read[api.Registration](a)
	return Order{JobID: done.JobID, Domain: done.Domain, Done: &done, Receipt: a.receipt()}, err
}
