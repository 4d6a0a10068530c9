package epptest

import (
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/registry"
)

// state is what the registry knows beyond the names of the embedded one. It is lost
// with the server, except for what tests would notice. Server.mu guards it.
type state struct {
	auth      map[string]string // authInfo by the reference of the registration or transfer
	transfers map[deed.Name]string
	renewed   map[deed.Name]renewal
	restored  map[deed.Name]string         // "pending" or "done"
	deleted   map[deed.Name]registry.Entry // as they were before
	extra     map[deed.Name][]string       // statuses that the registry has set
	held      map[deed.Name]*heldChange    // that wait for a decision
	keys      map[deed.Name]string         // of which the registry has the key itself
	says      string                       // what transfers are called; "" for what they are
	pending   map[deed.Name]bool           // creates that wait for a decision
	waiting   map[deed.Name]string
	hosts     map[string][]string // addresses
	hostOwner map[string]string
	contacts  map[string]contact
	refuses   string // why contacts are refused; "" if they are not
	queues    map[string][]queued
	lastID    int
}

func newState() state {
	return state{
		auth: map[string]string{}, transfers: map[deed.Name]string{}, renewed: map[deed.Name]renewal{}, restored: map[deed.Name]string{},
		deleted: map[deed.Name]registry.Entry{}, extra: map[deed.Name][]string{}, held: map[deed.Name]*heldChange{}, keys: map[deed.Name]string{}, pending: map[deed.Name]bool{}, waiting: map[deed.Name]string{},
		hosts: map[string][]string{}, hostOwner: map[string]string{}, contacts: map[string]contact{}, queues: map[string][]queued{},
	}
}

// execute executes a command.
func (s *Server) execute(c *client, cmd command) answer {
	if cmd.Login != nil {
		return s.login(c, *cmd.Login)
	}
	if !s.loggedIn(c) {
		return answer{code: 2002, reason: "log in first"}
	}
	if err := s.cfg.Registry.Ping(s.ctx); err != nil {
		return answer{} // the embedded registry is down
	}
	switch {
	case cmd.Logout != nil:
		return answer{code: 1500}
	case cmd.Poll != nil:
		return s.poll(c, *cmd.Poll)
	case cmd.Check != nil && cmd.Check.DomainCheck != nil:
		return s.check(c, *cmd.Check.DomainCheck, cmd.Ext)
	case cmd.Check != nil && cmd.Check.HostCheck != nil:
		return s.hostCheck(*cmd.Check.HostCheck)
	case cmd.Transfer != nil && cmd.Transfer.DomainTransfer != nil:
		return s.transfer(c, *cmd.Transfer.DomainTransfer, cmd.Transfer.Op, cmd.Ext)
	}
	for _, h := range []struct {
		o *domain
		f func(*client, *domain, added) answer
	}{
		{objectOf(cmd.Info, func(o *objects) *domain { return o.DomainInfo }), s.info},
		{objectOf(cmd.Create, func(o *objects) *domain { return o.DomainCreate }), s.create},
		{objectOf(cmd.Renew, func(o *objects) *domain { return o.DomainRenew }), s.renew},
		{objectOf(cmd.Update, func(o *objects) *domain { return o.DomainUpdate }), s.update},
		{objectOf(cmd.Delete, func(o *objects) *domain { return o.DomainDelete }), s.delete},
	} {
		if h.o != nil {
			return h.f(c, h.o, cmd.Ext)
		}
	}
	return s.object(c, cmd)
}

func objectOf(o *objects, f func(*objects) *domain) *domain {
	if o == nil {
		return nil
	}
	return f(o)
}

// object executes the commands for hosts and contacts.
func (s *Server) object(c *client, cmd command) answer {
	switch {
	case cmd.Info != nil && cmd.Info.HostInfo != nil:
		return s.hostInfo(*cmd.Info.HostInfo)
	case cmd.Create != nil && cmd.Create.HostCreate != nil:
		return s.hostCreate(c, *cmd.Create.HostCreate)
	case cmd.Update != nil && cmd.Update.HostUpdate != nil:
		return s.hostUpdate(c, *cmd.Update.HostUpdate)
	case cmd.Delete != nil && cmd.Delete.HostDelete != nil:
		return s.hostDelete(c, *cmd.Delete.HostDelete)
	case cmd.Create != nil && cmd.Create.ContactCreate != nil:
		return s.contactCreate(*cmd.Create.ContactCreate)
	case cmd.Delete != nil && cmd.Delete.ContactDelete != nil:
		return s.contactDelete(c, cmd.Delete.ContactDelete.ID)
	}
	return answer{code: 2307}
}

func (s *Server) login(c *client, in login) answer {
	for _, uri := range append(slices.Clone(in.Objects), in.Extensions...) {
		if !strings.Contains(s.greeting(), "URI>"+uri+"</") {
			return answer{code: 2307, reason: uri}
		}
	}
	switch {
	case c.clID != "":
		return answer{code: 2002}
	case in.Version != "1.0" || in.Language != "en":
		return answer{code: 2306}
	case accounts[in.ClID] == "" || in.Password != Password:
		return answer{code: 2200}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.MaxSessions > 0 && s.sessions >= s.cfg.MaxSessions {
		return answer{code: 2502}
	}
	s.sessions++
	c.clID, c.exts, c.restart = in.ClID, map[string]bool{}, s.restarts
	for _, uri := range in.Extensions {
		c.exts[uri] = true
	}
	return answer{code: 1000}
}

// clientOf returns the identifier of the registrar that has an account.
func clientOf(account string) string {
	for id, a := range accounts {
		if a == account {
			return id
		}
	}
	return account
}
