package epptest

import (
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/registry"
)

// expiry returns the expiry of a name. A deleted one keeps it.
func (s *Server) expiry(e registry.Entry) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, ok := s.deleted[e.Name]; ok {
		return before.Expires
	}
	return e.Expires
}

func (s *Server) extraOf(name deed.Name) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.extra[name]
}

// SetStatuses sets statuses of a name, as a registry does: serverHold.
func (s *Server) SetStatuses(name deed.Name, statuses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra[name] = statuses
}

// DeleteName deletes a name, as a registry does after a judgment. It begins redemption.
func (s *Server) DeleteName(name deed.Name) error {
	e, err := s.cfg.Registry.Store.Entry(s.ctx, name, s.now())
	if err != nil {
		return err
	}
	return s.remove(e)
}

// RenameHost renames a host, as happens when the name above it is deleted. All names
// that use it have the new one from then on.
func (s *Server) RenameHost(from, to string) error {
	s.mu.Lock()
	s.hosts[to], s.hostOwner[to] = s.hosts[from], s.hostOwner[from]
	delete(s.hosts, from)
	s.mu.Unlock()
	for _, account := range accounts {
		entries, err := s.cfg.Registry.Store.Entries(s.ctx, account, "", 1000, s.now())
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !slices.Contains(e.Nameservers, from) {
				continue
			}
			err := s.cfg.Registry.Store.Change(s.ctx, e.Name, s.now(), func(e registry.Entry) (registry.Entry, error) {
				e.Nameservers = slices.Clone(e.Nameservers)
				e.Nameservers[slices.Index(e.Nameservers, from)] = to
				return e, nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Expires returns the registry's own expiry of a name.
func (s *Server) Expires(name deed.Name) time.Time {
	e, ok := s.entry(name)
	if !ok {
		return time.Time{}
	}
	return s.expiry(e)
}
