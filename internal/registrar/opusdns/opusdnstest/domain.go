package opusdnstest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// object returns the domain object of a name, if the account has one.
func (s *Server) object(ctx context.Context, name deed.Name) (map[string]any, bool) {
	r, known := s.records[name]
	if known && (r.pending || r.failed) {
		status := "pendingCreate"
		if r.failed {
			status = "failed"
		}
		return s.describe(name, r, lifecycle.Holding{EPPStatus: []string{status}}), true
	}
	h, err := s.registry.Holding(ctx, name)
	switch {
	case err == nil && known && h.Reference == r.reference:
		if r.transfer && !r.arrived {
			r.arrived = true
			s.records[name] = r
			s.keepCode(ctx, name, r.code)
			return s.object(ctx, name)
		}
		return s.describe(name, r, h), true
	case err == nil:
		return nil, false // a name that the account got in another way
	case known && r.transfer && s.isPending(ctx, name, r):
		return s.describe(name, r, lifecycle.Holding{EPPStatus: []string{"pendingTransfer"}}), true
	}
	return nil, false
}

// keepCode makes a name that was transferred unlocked, with the code of its last holder.
func (s *Server) keepCode(ctx context.Context, name deed.Name, code string) {
	sum := sha256.Sum256([]byte(code))
	_ = s.registry.Store.Change(ctx, name, s.registry.Now(), func(e registry.Entry) (registry.Entry, error) { // it was just read
		e.Locked, e.AuthHash = false, hex.EncodeToString(sum[:])
		return e, nil
	})
}

func (s *Server) isPending(ctx context.Context, name deed.Name, r record) bool {
	o, err := s.registry.Order(ctx, registrar.Order{Kind: registrar.OrderTransfer, Reference: r.reference, Name: name, Years: 1})
	return err == nil && o.State == registrar.OrderPending
}

func (s *Server) describe(name deed.Name, r record, h lifecycle.Holding) map[string]any {
	servers := []any{}
	for _, host := range h.Nameservers {
		server := map[string]any{"hostname": host}
		if addrs := s.hosts[host]; addrs != nil {
			list := []any{}
			for _, a := range addrs {
				list = append(list, a)
			}
			server["ip_addresses"] = list
		}
		servers = append(servers, server)
	}
	statuses := []any{}
	for _, status := range h.EPPStatus {
		statuses = append(statuses, status)
	}
	if s.updating[name] == "pending" {
		statuses = append(statuses, "pendingUpdate")
	}
	contacts := []any{}
	for role, id := range r.contacts {
		contacts = append(contacts, map[string]any{"contact_type": role, "contact_id": id})
	}
	out := map[string]any{
		"domain_id": r.id, "name": string(name), "sld": string(name.Label()), "tld": string(name.TLD()), "roid": "D1-TEST",
		"owner_id": Organization, "registry_account_id": "registry_account_01h45ytscbebyvny4gc8cr8ma2", "renewal_mode": "expire",
		"transfer_lock": h.Locked, "is_premium": r.premium, "registered_on": stamp(h.Created), "expires_on": stamp(h.Expires),
		"created_on": stamp(r.created), "updated_on": stamp(r.updated), "nameservers": servers, "contacts": contacts,
		"hosts": []any{}, "registry_statuses": statuses, "auth_code": nil, "verification_required": nil,
	}
	if r.code != "" {
		out["auth_code"] = r.code
	}
	if deadline, ok := s.verify[name]; ok {
		out["verification_required"] = map[string]any{"claims": []any{"email", "name"}, "deadlines": []any{
			map[string]any{"type": "dedelegation", "date": stamp(deadline)}, map[string]any{"type": "deletion", "date": stamp(deadline.AddDate(0, 0, 15))},
		}}
	}
	return out
}

func (s *Server) get(c call) reply {
	if out, ok := s.object(c.ctx, c.name); ok {
		return reply{status: http.StatusOK, body: out}
	}
	return notFound()
}

func (s *Server) list(c call) reply {
	var names []deed.Name
	for name := range s.records {
		names = append(names, name)
	}
	slices.Sort(names)
	all := []any{}
	for _, name := range names {
		if out, ok := s.object(c.ctx, name); ok {
			all = append(all, out)
		}
	}
	return page(c, all)
}

func (s *Server) check(c call) reply {
	results := []any{}
	for _, text := range c.r.URL.Query()["domains"] {
		result := map[string]any{"domain": text, "available": false, "reason": nil, "is_premium": false}
		results = append(results, result)
		name, err := deed.ParseName(text)
		if err != nil {
			result["error"] = map[string]any{"type": "validation_error", "message": "the name is not valid"}
			continue
		}
		a, err := s.registry.Available(c.ctx, name)
		if err != nil {
			result["error"] = map[string]any{"type": "check_error", "message": "the registry did not respond"}
			continue
		}
		result["available"] = a.Available
		if reason := map[string]string{"taken": "Domain exists", "reserved": "Reserved"}[a.Reason]; reason != "" {
			result["reason"] = reason
		}
		if s.account.Claims[name] && a.Available {
			result["claims_key"] = "2013041500/2/6/9/rJ1NrDO92vDsAzf7EQzgjX4R0000000001"
		}
		if a.Premium {
			prices := []any{s.premiumPrice("renew", a.Renewal), s.premiumPrice("restore", 2*a.Renewal)}
			if a.Available {
				prices = append(prices, s.premiumPrice("create", a.Wholesale))
			}
			result["is_premium"], result["premium_pricing"] = true, map[string]any{"prices": prices}
		}
	}
	return reply{status: http.StatusOK, body: map[string]any{"results": results}}
}

func (s *Server) premiumPrice(action string, price deed.USDC) map[string]any {
	return map[string]any{"action": action, "price": price.String(), "currency": s.account.Currency}
}

// changed applies a change of the registry, and returns the reply.
func (s *Server) changed(c call, err error) reply {
	if _, ok := s.object(c.ctx, c.name); !ok || deed.CodeOf(err) == deed.CodeNotFound {
		return notFound()
	}
	if err != nil {
		return invalid(err.Error())
	}
	r := s.records[c.name]
	r.updated = s.now()
	s.records[c.name] = r
	return s.get(c)
}

func (s *Server) update(c call) reply {
	var in struct {
		Nameservers []struct {
			Hostname string `json:"hostname"`
		} `json:"nameservers"`
		Code     string            `json:"auth_code"`
		Contacts map[string]string `json:"contacts"`
		Changes  *struct {
			Add    []string `json:"add"`
			Remove []string `json:"remove"`
		} `json:"status_changes"`
	}
	if !decode(c, &in) {
		return invalid("not JSON")
	}
	object, ok := s.object(c.ctx, c.name)
	if !ok {
		return notFound()
	}
	for _, blocking := range []string{"pendingUpdate", "pendingTransfer", "pendingDelete", "redemptionPeriod"} {
		if slices.Contains(object["registry_statuses"].([]any), any(blocking)) {
			return invalid("the status " + blocking + " does not allow it")
		}
	}
	if s.updating[c.name] == "held" {
		s.updating[c.name] = "pending"
		return s.get(c)
	}
	var err error
	if in.Nameservers != nil {
		var hosts []string
		var glue lifecycle.Glue
		for _, ns := range in.Nameservers {
			hosts = append(hosts, ns.Hostname)
			server := dnssec.Nameserver{Host: ns.Hostname}
			for _, text := range s.hosts[ns.Hostname] {
				a, _ := netip.ParseAddr(text) // it was checked against the contract
				server.Addresses = append(server.Addresses, a)
			}
			glue = append(glue, server)
		}
		err = s.registry.SetDelegation(c.ctx, c.name, hosts, glue)
	}
	if in.Changes != nil && err == nil {
		err = s.registry.SetLock(c.ctx, c.name, len(in.Changes.Add) > 0)
	}
	if len(in.Contacts) > 0 && err == nil {
		if a, ok := s.link(c.name, in.Contacts); !ok {
			return a
		}
	}
	if in.Code != "" && err == nil {
		err = s.setCode(c.ctx, c.name, in.Code)
	}
	return s.changed(c, err)
}

// setCode sets a code of the registrar's choice.
func (s *Server) setCode(ctx context.Context, name deed.Name, code string) error {
	if len(code) < 6 || !strings.ContainsAny(code, "0123456789") {
		return deed.Invalid("auth_code", "is too simple")
	}
	ours, err := s.registry.AuthCode(ctx, name)
	if err != nil {
		return err
	}
	r := s.records[name]
	r.code = ours.Reveal() // the registry makes its own, which the vendor returns
	s.records[name] = r
	return nil
}

func (s *Server) remove(c call) reply {
	object, ok := s.object(c.ctx, c.name)
	if !ok {
		return notFound()
	}
	if slices.Contains(object["registry_statuses"].([]any), any("pendingTransfer")) {
		return refuse(http.StatusConflict, "ERROR_DOMAIN_DELETE_PROHIBITED", "domain-delete-prohibited")
	}
	if s.account.Keeps {
		return reply{status: http.StatusNoContent}
	}
	now := s.now()
	err := s.registry.Store.Change(c.ctx, c.name, now, func(e registry.Entry) (registry.Entry, error) {
		days := e.GraceDays
		if now.Before(e.Created.AddDate(0, 0, registry.AddGraceDays)) {
			days += lifecycle.RedemptionDays + lifecycle.PendingDeleteDays // it is free at once
		}
		e.Expires = now.AddDate(0, 0, -days).Add(-time.Second)
		e.Created = e.Expires.AddDate(-1, 0, 0) // it is never after the expiry
		return e, nil
	})
	if err != nil {
		return reply{lost: true}
	}
	return reply{status: http.StatusNoContent}
}
