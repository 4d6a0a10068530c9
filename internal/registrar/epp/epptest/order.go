package epptest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

func (s *Server) create(c *client, in *domain, ext added) answer {
	name, ok := parse(in.Name)
	years := 1
	if in.Period != nil {
		years = in.Period.Years
	}
	if !ok || in.Period != nil && in.Period.Unit != "y" {
		return answer{code: 2005}
	}
	if years < s.cfg.MinYears {
		return answer{code: 2306, reason: "period"}
	}
	if in.AuthInfo == nil || s.cfg.Contacts && in.Registrant == "" {
		return answer{code: 2003}
	}
	hosts := hostNames(in.HostObj, in.HostAttr)
	if a := s.known(in, hosts); a.code != 0 {
		return a
	}
	av, err := s.cfg.Registry.Available(s.ctx, name)
	if err != nil {
		return answer{}
	}
	cost := s.cost(av, years)
	if av.Premium && !s.agrees(ext.FeeCreate, cost) {
		return answer{code: 2004, reason: "the fee of a premium name is wrong"}
	}
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: s.nextTRID(), Name: name, Years: years, Nameservers: hosts}
	if a := s.admit(c, o, cost, *in.AuthInfo); a.code != 1000 {
		return a
	}
	if err := s.place(c, o); err != nil {
		return orderAnswer(err, o.Kind)
	}
	s.forget(name)
	if err := s.link(name, in.Registrant); err != nil {
		return answer{}
	}
	e, ok := s.entry(name)
	if !ok {
		return answer{}
	}
	return answer{code: 1000, data: creData("creData", name, e.Created, e.Expires), ext: s.charge("creData", cost, c)}
}

// admit returns 1000 when a name can be created now, and remembers its code.
func (s *Server) admit(c *client, o registrar.Order, cost deed.USDC, code string) answer {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.pending[o.Name]:
		s.waiting[o.Name] = c.clID
		return answer{code: 1001, data: creData("creData", o.Name, now, now.AddDate(o.Years, 0, 0))}
	case s.balance < cost:
		return answer{code: 2104}
	}
	s.auth[o.Reference] = code
	return answer{code: 1000}
}

func (s *Server) agrees(to *agreed, cost deed.USDC) bool {
	return to != nil && to.Currency == s.cfg.Currency && to.Fee == cost.String()
}

// forget removes what is remembered of the last holder of a name.
func (s *Server) forget(name deed.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.transfers, name)
	delete(s.renewed, name)
	delete(s.restored, name)
	delete(s.deleted, name)
	delete(s.extra, name)
}

// known fails when a host or a contact does not exist.
func (s *Server) known(in *domain, hosts []string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hosts {
		if _, ok := s.hosts[strings.ToLower(h)]; !ok && !s.cfg.HostAttr {
			return answer{code: 2303, reason: h}
		}
	}
	for _, id := range append(in.Contacts, in.Registrant) {
		if _, ok := s.contacts[id]; id != "" && !ok {
			return answer{code: 2303, reason: id}
		}
	}
	if s.cfg.HostAttr != (len(in.HostAttr) > 0) && len(hosts) > 0 {
		return answer{code: 2306, reason: "hosts"}
	}
	return answer{}
}

func (s *Server) cost(a registrar.Availability, years int) deed.USDC {
	if a.Premium {
		return a.Wholesale + a.Renewal*deed.USDC(years-1)
	}
	amount, _ := deed.ParseUSDC(price)
	return amount * deed.USDC(years)
}

// SetBalance sets what every registrar has in its account.
func (s *Server) SetBalance(left deed.USDC) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balance = left
}

// Spent returns what all orders have cost.
func (s *Server) Spent() deed.USDC {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

// charge takes the price and returns what the response says about it.
func (s *Server) charge(element string, cost deed.USDC, c *client) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balance -= cost
	s.spent += cost
	if !c.exts[nsFee] {
		return ""
	}
	return fmt.Sprintf(`<fee:%[1]s xmlns:fee="%[2]s"><fee:currency>%[3]s</fee:currency><fee:fee>%[4]s</fee:fee><fee:balance>%[5]s</fee:balance></fee:%[1]s>`, element, nsFee, s.cfg.Currency, cost, s.balance)
}

// place places an order for the account of the client.
func (s *Server) place(c *client, o registrar.Order) error {
	if c.clID == ClientID {
		return s.cfg.Registry.Place(s.ctx, o)
	}
	now := s.now()
	p := registry.Placement{Order: o, AuthHash: hash(o.AuthCode.Reveal()), Account: accounts[c.clID], GraceDays: 45, State: registry.PlacementPlaced, Placed: now, Due: now}
	p.AuthCode = ""
	p, err := s.cfg.Registry.Store.Place(s.ctx, p, now)
	if err == nil && p.State == registry.PlacementRefused {
		err = deed.Errorf(p.Refusal, "%s", p.Reason)
	}
	return err
}

func creData(kind string, name deed.Name, created, expires time.Time) string {
	out := `<domain:` + kind + ` xmlns:domain="` + nsDomain + `">` + element("domain:name", string(name))
	if kind == "creData" {
		out += element("domain:crDate", stamp(created))
	}
	return out + element("domain:exDate", stamp(expires)) + `</domain:` + kind + `>`
}

// holds returns the entry of a name of the client, or the response that refuses it.
func (s *Server) holds(c *client, text string) (registry.Entry, answer) {
	name, ok := parse(text)
	if !ok {
		return registry.Entry{}, answer{code: 2005}
	}
	e, ok := s.entry(name)
	switch {
	case !ok:
		return e, answer{}
	case !e.HeldAt(s.now()):
		return e, answer{code: 2303}
	case clientOf(e.Account) != c.clID:
		return e, answer{code: 2201}
	}
	return e, answer{code: 1000}
}

func (s *Server) renew(c *client, in *domain, ext added) answer {
	e, a := s.holds(c, in.Name)
	if a.code != 1000 {
		return a
	}
	if a, waits := s.hold(in.Name, "pendingRenew", func() answer { return s.renew(c, in, ext) }); waits {
		return a
	}
	if slices.Contains(s.extraOf(e.Name), "serverRenewProhibited") {
		return answer{code: 2304}
	}
	if in.CurExpDate != e.Expires.Format(time.DateOnly) {
		return answer{code: 2004, reason: "curExpDate"}
	}
	years := 1
	if in.Period != nil {
		years = in.Period.Years
	}
	av, err := s.cfg.Registry.Available(s.ctx, e.Name)
	if err != nil {
		return answer{}
	}
	av.Wholesale = av.Renewal
	cost := s.cost(av, years)
	if av.Premium && !s.agrees(ext.FeeRenew, cost) {
		return answer{code: 2004, reason: "the fee of a premium name is wrong"}
	}
	s.mu.Lock()
	o := registrar.Order{Kind: registrar.OrderRenew, Name: e.Name, Years: years, From: e.Expires, Restore: s.restored[e.Name] == "done"}
	s.mu.Unlock()
	o.Reference = s.nextTRID()
	if err := s.place(c, o); err != nil {
		return orderAnswer(err, o.Kind)
	}
	s.mu.Lock()
	delete(s.restored, e.Name)
	delete(s.renewed, e.Name)
	s.mu.Unlock()
	e, ok := s.entry(e.Name)
	if !ok {
		return answer{}
	}
	return answer{code: 1000, data: creData("renData", e.Name, e.Created, e.Expires), ext: s.charge("renData", cost, c)}
}

// delete deletes a name: in its add grace period at once, and says that it is pending;
// later it begins redemption.
func (s *Server) delete(c *client, in *domain, _ added) answer {
	e, a := s.holds(c, in.Name)
	if a.code != 1000 {
		return a
	}
	now := s.now()
	if phase := e.Phase(now); phase == lifecycle.PhaseRedemption || phase == lifecycle.PhasePendingDelete || e.Transfer != "" {
		return answer{code: 2304}
	}
	if len(s.hostsBelow(e.Name)) > 0 {
		return answer{code: 2305, reason: "hosts below the name"}
	}
	if slices.Contains(s.extraOf(e.Name), "serverDeleteProhibited") {
		return answer{code: 2304}
	}
	if err := s.remove(e); err != nil {
		return answer{}
	}
	return answer{code: 1001}
}

// remove deletes a name: in its add grace period at once, later it begins redemption.
func (s *Server) remove(e registry.Entry) error {
	now := s.now()
	err := s.cfg.Registry.Store.Change(s.ctx, e.Name, now, func(e registry.Entry) (registry.Entry, error) {
		if now.Before(e.Created.AddDate(0, 0, registry.AddGraceDays)) {
			e.Expires = now.AddDate(0, 0, -lifecycle.RedemptionDays-lifecycle.PendingDeleteDays-1)
			e.Created = e.Expires.AddDate(0, 0, -1)
		} else {
			e.Expires = now
		}
		e.GraceDays = 0
		return e, nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	renewed := s.renewed[e.Name]
	s.mu.Unlock()
	s.forget(e.Name)
	s.mu.Lock()
	s.deleted[e.Name], s.renewed[e.Name] = e, renewed // it may be restored
	s.mu.Unlock()
	return nil
}
