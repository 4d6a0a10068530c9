package epptest

import (
	"cmp"
	"context"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

func (s *Server) transfer(c *client, in domain, op string, ext added) answer {
	name, ok := parse(in.Name)
	if !ok {
		return answer{code: 2005}
	}
	e, ok := s.entry(name)
	if !ok {
		return answer{}
	}
	if !e.HeldAt(s.now()) {
		return answer{code: 2303}
	}
	code := ""
	if in.AuthInfo != nil {
		code = *in.AuthInfo
	}
	switch op {
	case "request":
		return s.request(c, e, code, ext)
	case "query":
		return s.query(c, e, code)
	case "cancel":
		return s.cancel(c, e)
	case "approve", "reject":
		return s.decide(c, e, op == "approve")
	}
	return answer{code: 2005}
}

func (s *Server) request(c *client, e registry.Entry, code string, ext added) answer {
	av, err := s.cfg.Registry.Available(s.ctx, e.Name)
	if err != nil {
		return answer{}
	}
	cost := s.cost(registrar.Availability{Premium: av.Premium, Wholesale: av.Renewal}, 1)
	switch {
	case clientOf(e.Account) == c.clID:
		return answer{code: 2106}
	case e.Transfer != "":
		return answer{code: 2300}
	case av.Premium && !s.agrees(ext.FeeTrans, cost):
		return answer{code: 2004, reason: "the fee of a premium name is wrong"}
	}
	o := registrar.Order{Kind: registrar.OrderTransfer, Reference: s.nextTRID(), Name: e.Name, Years: 1, AuthCode: deed.Secret(code)}
	if err := s.place(c, o); err != nil {
		a := orderAnswer(err, o.Kind)
		if a.code == 2106 && e.Locked {
			a.code = 2304
		}
		return a
	}
	s.mu.Lock()
	s.transfers[e.Name], s.auth[o.Reference] = o.Reference, code
	s.mu.Unlock()
	data := s.describeTransfer(e.Name, o.Reference, e.Account)
	s.notify(clientOf(e.Account), "Transfer requested.", data)
	return answer{code: 1001, data: data, ext: s.charge("trnData", cost, c)}
}

// lastTransfer returns the reference of the last transfer of the name, or "".
func (s *Server) lastTransfer(e registry.Entry) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Transfer != "" {
		s.transfers[e.Name] = e.Transfer
	}
	return s.transfers[e.Name]
}

func (s *Server) query(c *client, e registry.Entry, code string) answer {
	reference := s.lastTransfer(e)
	if reference == "" {
		return answer{code: 2301}
	}
	p, _, err := s.cfg.Registry.Store.Placement(s.ctx, reference, s.now())
	if err != nil {
		return answer{}
	}
	if c.clID != clientOf(p.Account) && c.clID != clientOf(e.Account) && hash(code) != e.AuthHash {
		return answer{code: 2201}
	}
	return answer{code: 1000, data: s.describeTransfer(e.Name, reference, e.Account)}
}

// describeTransfer returns the state of a transfer.
func (s *Server) describeTransfer(name deed.Name, reference, holder string) string {
	p, _, err := s.cfg.Registry.Store.Placement(context.WithoutCancel(s.ctx), reference, s.now())
	if err != nil {
		return ""
	}
	status := map[registry.PlacementState]string{
		registry.PlacementPlaced: "pending", registry.PlacementDone: "serverApproved",
		registry.PlacementRefused: "clientRejected", registry.PlacementCancelled: "clientCancelled",
	}[p.State]
	s.mu.Lock()
	status = cmp.Or(s.says, status)
	s.mu.Unlock()
	return `<domain:trnData xmlns:domain="` + nsDomain + `">` + element("domain:name", string(name)) + element("domain:trStatus", status) +
		element("domain:reID", clientOf(p.Account)) + element("domain:reDate", stamp(p.Placed)) +
		element("domain:acID", clientOf(holder)) + element("domain:acDate", stamp(p.Due)) + `</domain:trnData>`
}

// SayTransfer makes the registry call the state of every transfer so; "" for what it is.
func (s *Server) SayTransfer(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says = status
}

func (s *Server) cancel(c *client, e registry.Entry) answer {
	if e.Transfer == "" {
		return answer{code: 2301}
	}
	p, _, err := s.cfg.Registry.Store.Placement(s.ctx, e.Transfer, s.now())
	if err != nil {
		return answer{}
	}
	if clientOf(p.Account) != c.clID {
		return answer{code: 2201}
	}
	s.lastTransfer(e)
	if err := s.cfg.Registry.Store.Cancel(s.ctx, e.Transfer, s.now()); err != nil {
		return answer{code: 2301}
	}
	data := s.describeTransfer(e.Name, e.Transfer, e.Account)
	s.notify(clientOf(e.Account), "Transfer cancelled.", data)
	return answer{code: 1000, data: data}
}

func (s *Server) decide(c *client, e registry.Entry, approve bool) answer {
	switch {
	case clientOf(e.Account) != c.clID:
		return answer{code: 2201}
	case e.Transfer == "":
		return answer{code: 2301}
	}
	s.lastTransfer(e)
	p, _, err := s.cfg.Registry.Store.Placement(s.ctx, e.Transfer, s.now())
	if err != nil {
		return answer{}
	}
	if err := s.cfg.Registry.Decide(s.ctx, e.Name, approve); err != nil {
		return answer{code: 2301}
	}
	data := s.describeTransfer(e.Name, e.Transfer, e.Account)
	s.notify(clientOf(p.Account), "Transfer decided.", data)
	return answer{code: 1000, data: data}
}
