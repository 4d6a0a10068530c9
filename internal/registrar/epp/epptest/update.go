package epptest

import (
	"net/netip"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

func (s *Server) update(c *client, in *domain, ext added) answer {
	e, a := s.holds(c, in.Name)
	if a.code != 1000 {
		return a
	}
	if a, waits := s.hold(in.Name, "pendingUpdate", func() answer { return s.update(c, in, ext) }); waits {
		return a
	}
	now := s.now()
	if ext.RGP != nil {
		return s.paidRestore(c, e, ext)
	}
	if phase := e.Phase(now); phase == lifecycle.PhaseRedemption || phase == lifecycle.PhasePendingDelete {
		return answer{code: 2304}
	}
	if !s.lift(e.Name, in) {
		return answer{code: 2304}
	}
	for _, h := range hostNames(in.Add.HostObj, in.Add.HostAttr) {
		if a := s.known(&domain{HostAttr: in.Add.HostAttr}, []string{h}); a.code != 0 {
			return a
		}
	}
	if a := s.known(&domain{Registrant: in.Chg.Registrant}, nil); a.code != 0 {
		return a
	}
	for _, h := range in.Add.HostAttr {
		if lifecycle.Below(h.Name, e.Name) && len(h.Addrs) == 0 {
			return answer{code: 2003, reason: h.Name}
		}
	}
	code := 2306
	err := s.cfg.Registry.Store.Change(s.ctx, e.Name, now, func(e registry.Entry) (next registry.Entry, err error) {
		next = e
		for _, v := range append(in.Add.Statuses, in.Rem.Statuses...) {
			if v.Value != "clientTransferProhibited" {
				return e, deed.Invalid("status", "%s", v.Value)
			}
			if next, err = next.WithLock(len(in.Add.Statuses) > 0, now); err != nil {
				code = 2304
				return e, err
			}
		}
		return s.applied(next, in, ext)
	})
	if err != nil {
		return answer{code: code}
	}
	if in.Chg.AuthInfo != nil {
		s.mu.Lock()
		s.auth[e.Reference] = *in.Chg.AuthInfo
		s.mu.Unlock()
	}
	return answer{code: 1000}
}

// lift removes statuses that SetStatuses has set from the name and from the update. It returns
// false if the name has clientUpdateProhibited, and the update does not only remove that.
func (s *Server) lift(name deed.Name, in *domain) bool {
	const prohibited = "clientUpdateProhibited"
	s.mu.Lock()
	defer s.mu.Unlock()
	rem := in.Rem.Statuses
	alone := len(rem) == 1 && rem[0].Value == prohibited && in.Chg.AuthInfo == nil && in.Chg.Registrant == "" && len(in.Add.HostObj)+len(in.Rem.HostObj) == 0
	if slices.Contains(s.extra[name], prohibited) && !alone {
		return false
	}
	in.Rem.Statuses = nil
	for _, v := range rem {
		if i := slices.Index(s.extra[name], v.Value); i >= 0 {
			s.extra[name] = slices.Delete(slices.Clone(s.extra[name]), i, i+1)
		} else {
			in.Rem.Statuses = append(in.Rem.Statuses, v)
		}
	}
	return true
}

// applied returns the entry with the other changes of an update.
func (s *Server) applied(e registry.Entry, in *domain, ext added) (registry.Entry, error) {
	rem := hostNames(in.Rem.HostObj, in.Rem.HostAttr)
	e.Nameservers = slices.DeleteFunc(slices.Clone(e.Nameservers), func(h string) bool { return slices.Contains(rem, h) })
	e.Nameservers = append(e.Nameservers, hostNames(in.Add.HostObj, in.Add.HostAttr)...)
	var given lifecycle.Glue
	for _, h := range in.Add.HostAttr {
		server := dnssec.Nameserver{Host: h.Name}
		for _, text := range h.Addrs {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return e, deed.Invalid("hostAddr", "%s", text)
			}
			server.Addresses = append(server.Addresses, a)
		}
		given = append(given, server)
	}
	e.Glue = e.Glue.Corrected(e.Name, e.Nameservers, given)
	if in.Chg.Registrant != "" {
		e.Registrant = in.Chg.Registrant
	}
	if in.Chg.AuthInfo != nil {
		e.AuthHash = hash(*in.Chg.AuthInfo)
	}
	if ext.DNSSEC == nil {
		return e, nil
	}
	all := slices.Clone(e.DS)
	if ext.DNSSEC.RemAll != nil && *ext.DNSSEC.RemAll {
		all = nil
		s.SetKey(e.Name, "")
	}
	if s.keyOf(e.Name) != "" {
		return e, deed.Invalid("dsData", "there is a key")
	}
	for _, d := range ext.DNSSEC.Rem {
		all = slices.DeleteFunc(all, func(have dnssec.DS) bool { return have == dsOf(d) })
	}
	for _, d := range ext.DNSSEC.Add {
		all = append(all, dsOf(d))
	}
	var err error
	e.DS, err = dnssec.ParseDS(all)
	return e, err
}

func dsOf(d ds) dnssec.DS {
	return dnssec.DS{KeyTag: d.KeyTag, Algorithm: d.Algorithm, DigestType: d.DigestType, Digest: strings.ToLower(d.Digest)}
}

// paidRestore restores a name from redemption for its price, which a client must have agreed
// to if the name is premium.
func (s *Server) paidRestore(c *client, e registry.Entry, ext added) answer {
	av, err := s.cfg.Registry.Available(s.ctx, e.Name)
	if err != nil {
		return answer{}
	}
	op, cost := ext.RGP.Restore.Op, s.cost(registrar.Availability{Premium: av.Premium, Wholesale: av.Renewal}, 1)
	if op == "request" && av.Premium && !s.agrees(ext.FeeUpdate, cost) {
		return answer{code: 2003, reason: "the fee of a premium name is missing or wrong"}
	}
	a := s.restore(e, op, ext.RGP.Restore.Report)
	if op == "request" && a.code == 1000 {
		a.ext = s.charge("updData", cost, c)
	}
	return a
}

// restore restores a name from redemption; it stays expired until it is renewed.
func (s *Server) restore(e registry.Entry, op string, report *report) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.restored[e.Name]
	switch {
	case e.Phase(s.now()) != lifecycle.PhaseRedemption:
		return answer{code: 2304}
	case op == "request" && state == "" && s.cfg.RestoreReport:
		s.restored[e.Name] = "pending"
	case report != nil && (report.Deleted.After(report.Restored) || report.Restored.After(s.now())):
		return answer{code: 2005, reason: "the times of the report"}
	case op == "request" && state == "", op == "report" && state == "pending" && report != nil:
		return s.undelete(e.Name)
	default:
		return answer{code: 2304}
	}
	return answer{code: 1000}
}

// undelete ends the redemption of a name. One that was deleted is as before. The caller
// holds mu.
func (s *Server) undelete(name deed.Name) answer {
	before, deleted := s.deleted[name]
	if !deleted {
		s.restored[name] = "done"
		return answer{code: 1000}
	}
	err := s.cfg.Registry.Store.Change(s.ctx, name, s.now(), func(e registry.Entry) (registry.Entry, error) {
		e.Expires, e.GraceDays = before.Expires, before.GraceDays
		return e, nil
	})
	if err != nil {
		return answer{}
	}
	delete(s.deleted, name)
	delete(s.restored, name)
	return answer{code: 1000}
}
