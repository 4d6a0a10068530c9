package epptest

import (
	"deed.example/deed"
	"deed.example/deed/internal/registrar/registry"
)

const nsContact = "urn:ietf:params:xml:ns:contact-1.0"

func (s *Server) contactCreate(in contact) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, exists := s.contacts[in.ID]
	switch {
	case in.Name == "" || in.Email == "" || in.Street == "" || in.PW == "":
		return answer{code: 2003}
	case len(in.ID) < 3 || len(in.ID) > 16:
		return answer{code: 2005}
	case exists:
		return answer{code: 2302}
	case s.refuses != "":
		return answer{code: 2306, reason: s.refuses}
	}
	s.contacts[in.ID] = in
	return answer{code: 1000, data: `<contact:creData xmlns:contact="` + nsContact + `">` + element("contact:id", in.ID) + element("contact:crDate", stamp(s.now())) + `</contact:creData>`}
}

func (s *Server) contactDelete(c *client, id string) answer {
	entries, err := s.cfg.Registry.Store.Entries(s.ctx, accounts[c.clID], "", 1000, s.now())
	if err != nil {
		return answer{}
	}
	for _, e := range entries {
		if e.Registrant == id {
			return answer{code: 2305}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.contacts[id]; !ok {
		return answer{code: 2303}
	}
	delete(s.contacts, id)
	return answer{code: 1000}
}

// link makes a contact the registrant of a new name.
func (s *Server) link(name deed.Name, id string) error {
	return s.cfg.Registry.Store.Change(s.ctx, name, s.now(), func(e registry.Entry) (registry.Entry, error) {
		e.Registrant = id
		return e, nil
	})
}

// Contacts returns how many contacts there are.
func (s *Server) Contacts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.contacts)
}

// RefuseContacts makes the registry refuse new contacts for that reason; "" ends it.
func (s *Server) RefuseContacts(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = reason
}

// Registrant returns the name and the e-mail address of the registrant of a name.
func (s *Server) Registrant(name deed.Name) (person, email string) {
	e, _ := s.entry(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.contacts[e.Registrant]
	return k.Name, k.Email
}
