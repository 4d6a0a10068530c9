package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/api"
)

// MandatePlan returns what the owner of a name signs to have its next renewals paid
// automatically, one for each year. Limit is the most that each may cost; nil means the
// default of the service.
func (c *Client) MandatePlan(ctx context.Context, domain string, years int, limit *USDC) (api.MandatePlan, error) {
	q := url.Values{"years": {strconv.Itoa(years)}}
	if limit != nil {
		q.Set("capUsd", limit.String())
	}
	return call[api.MandatePlan](ctx, c, request{method: "GET", path: path("account", "mandates", domain, "plan"), query: q, bearer: true}, nil)
}

// CreateMandates stores mandates that the wallet has signed. AutoRenew signs them, too.
func (c *Client) CreateMandates(ctx context.Context, domain string, in api.MandatesRequest) (api.Mandates, error) {
	return call[api.Mandates](ctx, c, request{method: "POST", path: path("account", "mandates", domain), bearer: true}, in)
}

// Mandates returns the mandates of the wallet for a name, the latest expiry first.
func (c *Client) Mandates(ctx context.Context, domain string) (api.Mandates, error) {
	return call[api.Mandates](ctx, c, request{method: "GET", path: path("account", "mandates", domain), bearer: true}, nil)
}

// RevokeMandates ends the mandates of the wallet for a name, or the one with the id.
func (c *Client) RevokeMandates(ctx context.Context, domain, id string) (api.Mandates, error) {
	q := url.Values{}
	if id != "" {
		q.Set("id", id)
	}
	return call[api.Mandates](ctx, c, request{method: "DELETE", path: path("account", "mandates", domain), query: q, bearer: true}, nil)
}

// AutoRenew signs mandates for the next renewals of a name, as many as there are years,
// and stores them. Those that exist are left as they are. Limit is the most that each
// may cost; nil means the default of the service. No cap may exceed the limit of the
// client. Nothing is paid before a renewal is due.
func (c *Client) AutoRenew(ctx context.Context, domain string, years int, limit *USDC) (api.Mandates, error) {
	if c.wallet == nil {
		return api.Mandates{}, errors.New("this client has no wallet to sign with")
	}
	plan, err := c.MandatePlan(ctx, domain, years, limit)
	if err != nil {
		return api.Mandates{}, err
	}
	var in api.MandatesRequest
	for _, slot := range plan.Renewals {
		if slot.Signed {
			continue
		}
		m, err := c.signMandate(ctx, plan, slot, limit)
		if err != nil {
			return api.Mandates{}, err
		}
		in.Mandates = append(in.Mandates, m)
	}
	if len(in.Mandates) == 0 {
		return c.Mandates(ctx, domain)
	}
	return c.CreateMandates(ctx, domain, in)
}

// maxMandateWindow is the longest time that a mandate may be valid for: 30 days before
// the expiry, and any grace period.
const maxMandateWindow = 120 * 24 * time.Hour

// signMandate checks what the service asks for, and signs one authorization.
func (c *Client) signMandate(ctx context.Context, plan api.MandatePlan, slot api.MandateSlot, limit *USDC) (api.MandateRequest, error) {
	token, ok := coins["eip155:"+strconv.FormatUint(plan.Token.ChainID, 10)]
	t := slot.Authorization
	value, err1 := strconv.ParseInt(t.Value, 10, 64)
	after, err2 := strconv.ParseInt(t.ValidAfter, 10, 64)
	before, err3 := strconv.ParseInt(t.ValidBefore, 10, 64)
	a := authorization{from: c.wallet.Address(), to: common.HexToAddress(t.To), value: value, after: after, before: before}
	switch window := time.Duration(before-after) * time.Second; {
	case !ok || common.HexToAddress(plan.Token.Address) != token.address || plan.Token.Name != token.name || plan.Token.Version != token.version:
		return api.MandateRequest{}, fmt.Errorf("%w: its token is not the USDC of a chain that we know", ErrBadOffer)
	case errors.Join(err1, err2, err3) != nil || value <= 0:
		return api.MandateRequest{}, fmt.Errorf("%w: one of its numbers is not a number", ErrBadOffer)
	case USDC(value).String() != plan.Cap || limit != nil && USDC(value) > *limit:
		return api.MandateRequest{}, fmt.Errorf("%w: it says %s USDC and asks for %s", ErrBadOffer, plan.Cap, USDC(value))
	case window <= 0 || window > maxMandateWindow || after > slot.ExpiresAt.Unix() || before < slot.ExpiresAt.Unix():
		return api.MandateRequest{}, fmt.Errorf("%w: a mandate would be valid at another time than its renewal", ErrBadOffer)
	case !common.IsHexAddress(t.To) || a.to == (common.Address{}) || a.to == token.address || a.to == a.from:
		return api.MandateRequest{}, fmt.Errorf("%w: %s cannot be the payee", ErrBadOffer, t.To)
	case c.cap != nil && USDC(value) > *c.cap:
		return api.MandateRequest{}, &OverCap{Offer: Offer{Price: USDC(value), For: "a renewal of " + plan.Domain, Domain: plan.Domain, PayTo: t.To}, Cap: *c.cap}
	}
	rand.Read(a.nonce[:]) // it never fails
	signature, err := c.wallet.SignTypedData(ctx, a.typedData(token))
	if err != nil {
		return api.MandateRequest{}, fmt.Errorf("sign the mandate: %w", err)
	}
	return api.MandateRequest{ExpiresAt: slot.ExpiresAt, Authorization: a.fields(), Signature: "0x" + hex.EncodeToString(signature)}, nil
}
