package opusdnstest

import (
	"maps"
	"net/http"
	"slices"

	"deed.example/deed"
)

// A contact is a contact of the account.
type contact struct {
	Data map[string]any
	ID   string
}

func (s *Server) listContacts(c call) reply {
	all := []any{}
	for _, k := range s.contacts {
		if email := c.r.URL.Query().Get("email"); email == "" || k.Data["email"] == email {
			all = append(all, k.Data)
		}
	}
	return page(c, all)
}

func (s *Server) createContact(c call) reply {
	var data map[string]any
	if !decode(c, &data) {
		return invalid("not JSON")
	}
	if s.account.RefuseContacts {
		return invalid("the address does not exist")
	}
	return reply{status: http.StatusCreated, body: s.addContact(data).Data}
}

// AddContact adds a contact to the account and returns its ID.
func (s *Server) AddContact() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addContact(map[string]any{
		"first_name": "Ada", "last_name": "Example", "email": "other@example.com", "phone": "+1.2125552368", "street": "Main St 1",
		"city": "Town", "postal_code": "12345", "country": "US", "disclose": false,
	}).ID
}

func (s *Server) addContact(data map[string]any) contact {
	k := contact{Data: data, ID: newID("contact")}
	data["contact_id"], data["organization_id"], data["created_on"] = k.ID, Organization, stamp(s.now())
	s.contacts = append(s.contacts, k)
	return k
}

// Contacts returns the number of contacts of the account.
func (s *Server) Contacts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.contacts)
}

// deleteContact deletes a contact that no name has.
func (s *Server) deleteContact(c call) reply {
	id := c.r.PathValue("contact")
	i := slices.IndexFunc(s.contacts, func(k contact) bool { return k.ID == id })
	if i < 0 {
		return refuse(http.StatusNotFound, "ERROR_CONTACT_NOT_FOUND", "contact-not-found")
	}
	for name, r := range s.records {
		if _, held := s.object(c.ctx, name); held && slices.Contains(slices.Collect(maps.Values(r.contacts)), id) {
			return refuse(http.StatusConflict, "ERROR_CONTACT_IN_USE", "contact-in-use")
		}
	}
	s.contacts = slices.Delete(s.contacts, i, i+1)
	return reply{status: http.StatusNoContent}
}

// Registrant returns the last name and the e-mail address of the registrant of a name.
func (s *Server) Registrant(name deed.Name) (person, email any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.contacts {
		if k.ID == s.records[name].contacts["registrant"] {
			return k.Data["last_name"], k.Data["email"]
		}
	}
	return nil, nil
}

// link gives a name other contacts, if they exist.
func (s *Server) link(name deed.Name, roles map[string]string) (reply, bool) {
	for _, id := range roles {
		if !slices.ContainsFunc(s.contacts, func(k contact) bool { return k.ID == id }) {
			return refuse(http.StatusNotFound, "ERROR_CONTACT_NOT_FOUND", "contact-not-found"), false
		}
	}
	r := s.records[name]
	r.contacts = maps.Clone(r.contacts)
	maps.Copy(r.contacts, roles)
	s.records[name] = r
	return reply{}, true
}
