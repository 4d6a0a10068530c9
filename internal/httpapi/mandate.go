package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/order"
)

// mandates returns the service of mandates, or why there is none.
func (s *Server) mandates() (*mandate.Service, error) {
	if s.Mandates == nil {
		return nil, errNoPayments
	}
	return s.Mandates, nil
}

func (s *Server) planMandates(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	service, err := s.mandates()
	if err != nil {
		return err
	}
	q, err := query(r, "years", "capUsd")
	if err != nil {
		return err
	}
	years, limit := 1, deed.USDC(0)
	if text := q.Get("years"); text != "" {
		if years, err = strconv.Atoi(text); err != nil {
			return deed.Invalid("years", "must be a number from 1 to %d", order.MaxMandates)
		}
	}
	if text := q.Get("capUsd"); text != "" {
		if limit, err = deed.ParseUSDC(text); err != nil || limit == 0 {
			return deed.Invalid("capUsd", "is not an amount: write it like 15.70, or leave it out for a fifth above today's price")
		}
	}
	p, err := service.Plan(r.Context(), who, name, years, limit)
	if err != nil {
		return err
	}
	out := api.MandatePlan{
		Domain: string(name), Price: p.Price.String(), Cap: p.Cap.String(), Currency: currency, Token: s.mandateToken(), Renewals: []api.MandateSlot{},
	}
	for _, slot := range p.Slots {
		out.Renewals = append(out.Renewals, api.MandateSlot{
			ExpiresAt: slot.Expires.UTC(), NewExpiresAt: slot.Renewed.UTC(), Signed: slot.Taken,
			Authorization: api.MandateTerms{
				From: string(who), To: string(service.PayTo), Value: strconv.FormatInt(int64(p.Cap), 10),
				ValidAfter: strconv.FormatInt(slot.ValidAfter.Unix(), 10), ValidBefore: strconv.FormatInt(slot.ValidBefore.Unix(), 10),
			},
		})
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// mandateToken returns what the wallet must name when it signs.
func (s *Server) mandateToken() api.MandateToken {
	return api.MandateToken{Name: s.Terms.TokenName, Version: s.Terms.TokenVersion, ChainID: s.Mandates.Asset.ChainID, Address: s.Terms.Asset}
}

func (s *Server) createMandates(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	service, err := s.mandates()
	if err != nil {
		return err
	}
	var in api.MandatesRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return err
	}
	if len(in.Mandates) > order.MaxMandates {
		return deed.Invalid("mandates", "must be from 1 to %d", order.MaxMandates)
	}
	signed := make([]mandate.Signed, len(in.Mandates))
	for i, m := range in.Mandates {
		var h api.PaymentHeader
		h.Payload.Authorization, h.Payload.Signature = &m.Authorization, m.Signature
		auth, err := parseAuthorization(h)
		if err != nil {
			return deed.Invalid(fmt.Sprintf("mandates[%d].authorization", i), "has a malformed address, number, nonce or signature")
		}
		signed[i] = mandate.Signed{Expires: m.ExpiresAt, Auth: *auth}
	}
	made, err := service.Create(r.Context(), who, name, signed)
	if err != nil {
		return err
	}
	return s.replyMandates(w, r, http.StatusCreated, name, api.Mandates{Mandates: s.fromMandates(made)})
}

func (s *Server) listMandates(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	service, err := s.mandates()
	if err != nil {
		return err
	}
	all, err := service.List(r.Context(), who, name)
	if err != nil {
		return err
	}
	return s.replyMandates(w, r, http.StatusOK, name, api.Mandates{Mandates: s.fromMandates(all)})
}

func (s *Server) revokeMandates(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	service, err := s.mandates()
	if err != nil {
		return err
	}
	q, err := query(r, "id")
	if err != nil {
		return err
	}
	id := q.Get("id")
	if !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return deed.Invalid("id", "is not the id of a mandate")
	}
	ended, err := service.Revoke(r.Context(), who, name, id)
	if err != nil {
		return err
	}
	return s.replyMandates(w, r, http.StatusOK, name, api.Mandates{
		Mandates: s.fromMandates(ended),
		Message: "we have deleted the signatures and do not use them. On the chain they are valid until their time is over: " +
			"to make sure that no copy can be used, cancel each nonce with cancelAuthorization (see cancel); money that arrives by one goes back to you",
	})
}

// replyMandates adds whether the name is renewed by itself.
func (s *Server) replyMandates(w http.ResponseWriter, r *http.Request, status int, name deed.Name, out api.Mandates) error {
	out.Domain = string(name)
	held, err := s.Registrations.Names.Registration(r.Context(), name)
	if err == nil {
		out.AutoRenew, err = s.Mandates.Renews(r.Context(), held)
	}
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound { // a former owner may ask about a name that has ended
		return err
	}
	s.reply(w, status, out)
	return nil
}

// renews reports whether a name is renewed by itself.
func (s *Server) renews(r *http.Request, held lifecycle.Registration) (bool, error) {
	if s.Mandates == nil {
		return false, nil
	}
	return s.Mandates.Renews(r.Context(), held)
}

func (s *Server) fromMandates(all []order.Mandate) []api.Mandate {
	out := make([]api.Mandate, 0, len(all))
	for _, m := range all {
		one := api.Mandate{
			ID: m.ID, Status: string(m.State), ExpiresAt: m.Expires.UTC(), Cap: m.Auth.Amount.String(), Nonce: m.Auth.Nonce, Reason: m.Reason,
			ValidAfter: time.Unix(m.Auth.ValidAfter, 0).UTC(), ValidBefore: time.Unix(m.Auth.ValidBefore, 0).UTC(), CreatedAt: m.Created.UTC(), UpdatedAt: m.Updated.UTC(),
		}
		if m.State != order.MandateUsed && m.State != order.MandatePaying && s.Mandates.Now().Before(one.ValidBefore) {
			one.Cancel = &api.MandateCancel{Token: s.mandateToken(), Authorizer: string(m.Owner), Nonce: m.Auth.Nonce, Until: one.ValidBefore}
		}
		out = append(out, one)
	}
	return out
}
