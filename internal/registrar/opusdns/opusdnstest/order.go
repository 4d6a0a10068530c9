package opusdnstest

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// orderBody is the body of an order for a name.
type orderBody struct {
	Name     string            `json:"name"`
	Code     string            `json:"auth_code"`
	Contacts map[string]string `json:"contacts"`
	Price    string            `json:"expected_price"`
	Expiry   string            `json:"current_expiry_date"`
	Period   struct {
		Value int `json:"value"`
	} `json:"period"`
	Nameservers []struct {
		Hostname string `json:"hostname"`
	} `json:"nameservers"`
}

// readOrder reads the body of an order for a name that is not in the path.
func (s *Server) readOrder(c call) (orderBody, deed.Name, *reply) {
	var in orderBody
	if !decode(c, &in) {
		out := invalid("not JSON")
		return in, "", &out
	}
	name, err := deed.ParseName(in.Name)
	if err != nil {
		out := refuse(http.StatusBadRequest, "ERROR_TLD_NOT_AVAILABLE", "domain-tld-not-available")
		return in, "", &out
	}
	for _, id := range in.Contacts {
		if !slices.ContainsFunc(s.contacts, func(k contact) bool { return k.ID == id }) {
			out := refuse(http.StatusNotFound, "ERROR_CONTACT_NOT_FOUND", "contact-not-found")
			return in, "", &out
		}
	}
	return in, name, nil
}

func (s *Server) create(c call) reply {
	in, name, refused := s.readOrder(c)
	if refused != nil {
		return *refused
	}
	if c.fault == WrongAccount {
		if _, err := s.registry.Elsewhere(c.ctx, name); err != nil {
			return refuse(http.StatusConflict, "ERROR_DOMAIN_EXISTS", "domain-exists")
		}
		return reply{status: http.StatusCreated, body: s.describe(name, s.newRecord(in, false), lifecycle.Holding{})}
	}
	if out := s.confirmPrice(c.ctx, name, in); out != nil {
		return *out
	}
	return s.order(c, name, func(ctx context.Context) reply { return s.executeCreate(ctx, name, in) })
}

func (s *Server) newRecord(in orderBody, transfer bool) record {
	return record{
		id: newID("domain"), reference: rand.Text(), transfer: transfer, created: s.now(), updated: s.now(),
		contacts: maps.Clone(in.Contacts), premium: in.Price != "", code: in.Code,
	}
}

// confirmPrice refuses an order for a premium name with another price than its own.
func (s *Server) confirmPrice(ctx context.Context, name deed.Name, in orderBody) *reply {
	a, err := s.registry.Available(ctx, name)
	if err != nil {
		return &reply{lost: true}
	}
	var out reply
	switch total := a.Wholesale + deed.USDC(max(in.Period.Value, 1)-1)*a.Renewal; {
	case a.Premium && in.Price != total.String():
		out = refuse(http.StatusConflict, "ERROR_PREMIUM_PRICE_MISMATCH", "premium-price-mismatch")
	case !a.Premium && in.Price != "":
		out = refuse(http.StatusBadRequest, "ERROR_PREMIUM_PRICE_NOT_APPLICABLE", "premium-price-not-applicable")
	default:
		return nil
	}
	return &out
}

func (s *Server) executeCreate(ctx context.Context, name deed.Name, in orderBody) reply {
	if _, ok := s.object(ctx, name); ok && !s.records[name].failed {
		return refuse(http.StatusConflict, "ERROR_DOMAIN_EXISTS", "domain-exists")
	}
	r := s.newRecord(in, false)
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: r.reference, Name: name, Years: in.Period.Value}
	for _, ns := range in.Nameservers {
		o.Nameservers = append(o.Nameservers, ns.Hostname)
	}
	if s.account.Async {
		return s.createLater(name, r, o)
	}
	if out := s.place(ctx, o); out != nil {
		return *out
	}
	s.unlock(ctx, name)
	s.records[name] = r
	return s.created(ctx, name)
}

// unlock unlocks a new name: the vendor does not lock it.
func (s *Server) unlock(ctx context.Context, name deed.Name) {
	_ = s.registry.SetLock(ctx, name, false) // a name that was just registered can be changed
}

func (s *Server) created(ctx context.Context, name deed.Name) reply {
	object, ok := s.object(ctx, name)
	if !ok {
		return reply{lost: true}
	}
	return reply{status: http.StatusCreated, body: object}
}

// createLater accepts a registration that the registry executes later.
func (s *Server) createLater(name deed.Name, r record, o registrar.Order) reply {
	r.pending = true
	s.records[name] = r
	s.late = append(s.late, lateOrder{due: s.now().Add(LateBy), execute: func(ctx context.Context) {
		r.pending = false
		e := Event{Object: r.id, ObjectType: "DOMAIN", Type: "REGISTRATION", Subtype: "SUCCESS", Message: "registered " + string(name)}
		if out := s.place(ctx, o); out != nil {
			r.failed, e.Subtype = true, "FAILURE"
		} else {
			s.unlock(ctx, name)
		}
		s.records[name] = r
		s.addEvent(e)
	}})
	return reply{status: http.StatusCreated, body: s.describe(name, r, lifecycle.Holding{EPPStatus: []string{"pendingCreate"}})}
}

// place places the order at the registry, and returns the reply to a refusal.
func (s *Server) place(ctx context.Context, o registrar.Order) *reply {
	err := s.registry.Place(ctx, o)
	var out reply
	switch deed.CodeOf(err) {
	case "":
		return nil
	case deed.CodeUnavailable:
		out = reply{lost: true}
	case deed.CodeDomainUnavailable:
		out = refuse(http.StatusConflict, "ERROR_DOMAIN_EXISTS", "domain-exists")
	case deed.CodeValidation:
		out = refuse(http.StatusForbidden, "ERROR_DOMAIN_TRANSFER_INVALID_AUTH_CODE", "domain-transfer-invalid-auth")
		if o.Kind != registrar.OrderTransfer {
			out = invalid(err.Error())
		}
	default:
		out = refuse(http.StatusUnprocessableEntity, "ERROR_POLICY_VALIDATION", "policy-validation-error")
		if o.Kind == registrar.OrderTransfer {
			out = refuse(http.StatusConflict, "ERROR_DOMAIN_TRANSFER_NOT_ALLOWED", "domain-transfer-rejected")
		}
	}
	return &out
}

func (s *Server) transfer(c call) reply {
	in, name, refused := s.readOrder(c)
	if refused != nil {
		return *refused
	}
	r := s.newRecord(in, true)
	if c.fault == WrongAccount {
		return reply{status: http.StatusCreated, body: s.describe(name, r, lifecycle.Holding{EPPStatus: []string{"pendingTransfer"}})}
	}
	return s.order(c, name, func(ctx context.Context) reply {
		if _, ok := s.object(ctx, name); ok {
			return refuse(http.StatusConflict, "ERROR_DOMAIN_EXISTS", "domain-exists")
		}
		o := registrar.Order{Kind: registrar.OrderTransfer, Reference: r.reference, Name: name, Years: 1, AuthCode: deed.Secret(in.Code)}
		if out := s.place(ctx, o); out != nil {
			return *out
		}
		s.records[name] = r
		return s.created(ctx, name)
	})
}

func (s *Server) cancelTransfer(c call) reply {
	r, ok := s.records[c.name]
	if !ok || !r.transfer || !s.isPending(c.ctx, c.name, r) {
		return notFound()
	}
	if err := s.registry.Cancel(c.ctx, registrar.Order{Kind: registrar.OrderTransfer, Reference: r.reference, Name: c.name}); err != nil {
		return refuse(http.StatusConflict, "ERROR_DOMAIN_TRANSFER", "domain-transfer")
	}
	delete(s.records, c.name)
	return reply{status: http.StatusNoContent}
}

func (s *Server) decide(c call) reply {
	var in struct {
		Action string `json:"action"`
	}
	if _, ok := s.object(c.ctx, c.name); !ok {
		return notFound()
	}
	if !decode(c, &in) || s.registry.Decide(c.ctx, c.name, in.Action == "approve") != nil {
		return refuse(http.StatusBadRequest, "ERROR_DOMAIN_TRANSFER", "domain-transfer")
	}
	return reply{status: http.StatusOK, body: map[string]any{"action": in.Action, "domain_id": s.records[c.name].id, "domain_name": string(c.name)}}
}

func (s *Server) renew(c call) reply {
	var in orderBody
	if !decode(c, &in) {
		return invalid("not JSON")
	}
	from, err := time.Parse(time.RFC3339, in.Expiry)
	if _, ok := s.object(c.ctx, c.name); !ok || err != nil {
		return invalid("the domain is not in the account, or the date not valid")
	}
	if out := s.confirmRenewal(c, in); out != nil {
		return *out
	}
	done := func(to time.Time) reply {
		return reply{status: http.StatusOK, body: map[string]any{
			"name": string(c.name), "new_expiry_date": stamp(to), "period_extended": map[string]any{"unit": "y", "value": in.Period.Value},
		}}
	}
	if c.fault == Taken {
		return notFound()
	}
	if c.fault == WrongAccount {
		return done(from.AddDate(in.Period.Value, 0, 0))
	}
	return s.order(c, c.name, func(ctx context.Context) reply {
		o := registrar.Order{Kind: registrar.OrderRenew, Reference: rand.Text(), Name: c.name, Years: in.Period.Value, From: from}
		if out := s.place(ctx, o); out != nil {
			if out.lost {
				return *out
			}
			return invalid("the registry refuses the renewal")
		}
		return done(from.AddDate(in.Period.Value, 0, 0))
	})
}

// confirmRenewal refuses the renewal of a premium name at another price than its own.
func (s *Server) confirmRenewal(c call, in orderBody) *reply {
	a, err := s.registry.Available(c.ctx, c.name)
	if err != nil {
		return &reply{lost: true}
	}
	want := ""
	if a.Premium {
		want = (deed.USDC(in.Period.Value) * a.Renewal).String()
	}
	if in.Price != want {
		out := refuse(http.StatusUnprocessableEntity, "ERROR_PREMIUM_PRICE_MISMATCH", "premium-price-mismatch")
		return &out
	}
	return nil
}

// restore restores a name from redemption: it then has expired, and is in grace.
func (s *Server) restore(c call) reply {
	h, err := s.registry.Holding(c.ctx, c.name)
	if err != nil || h.Phase != lifecycle.PhaseRedemption {
		return invalid("the domain is not in redemption")
	}
	return s.order(c, c.name, func(ctx context.Context) reply {
		err := s.registry.Store.Change(ctx, c.name, s.now(), func(e registry.Entry) (registry.Entry, error) {
			if s.account.Renews {
				e.Expires = e.Expires.AddDate(1, 0, 0)
				return e, nil
			}
			e.GraceDays += lifecycle.RedemptionDays + lifecycle.PendingDeleteDays // until it is renewed
			return e, nil
		})
		if err != nil {
			return reply{lost: true}
		}
		r := s.records[c.name]
		r.updated = s.now()
		s.records[c.name] = r
		return reply{status: http.StatusOK, body: map[string]any{"domain_id": r.id, "name": string(c.name), "restored_at": stamp(s.now())}}
	})
}
