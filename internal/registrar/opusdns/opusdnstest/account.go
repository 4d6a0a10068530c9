package opusdnstest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
)

func (s *Server) organization(c call) reply {
	if c.r.PathValue("organization") != Organization {
		return refuse(http.StatusNotFound, "ERROR_ORGANIZATION_NOT_FOUND", "organization-not-found")
	}
	return reply{status: http.StatusOK, body: map[string]any{
		"name": "Test", "organization_id": Organization, "currency": s.account.Currency, "account_balance": s.account.Balance,
		"billing_metadata": map[string]any{"credit_limit": s.account.Credit}, "status": "active", "created_on": stamp(s.now()),
	}}
}

func (s *Server) pricing(call) reply {
	all := []any{}
	for _, p := range s.account.Prices {
		all = append(all, map[string]any{
			"product_type": "domain", "product_action": p.Action, "product_class": p.Class, "price": p.Price, "currency": p.Currency,
			"period": map[string]any{"unit": "y", "value": p.Years},
		})
	}
	return reply{status: http.StatusOK, body: map[string]any{"prices": all}}
}

func (s *Server) portfolio(call) reply {
	return reply{status: http.StatusOK, body: []any{
		map[string]any{"tld": "com", "type": "gTLD"}, map[string]any{"tld": "dev", "type": "gTLD"}, map[string]any{"tld": "de", "type": "ccTLD"},
	}}
}

// tld returns the rules of a TLD. That of .us demands data about the registrant, and
// that of .de a local presence.
func (s *Server) tld(c call) reply {
	tld := c.r.PathValue("tld")
	roles := []any{}
	for _, role := range []string{"registrant", "admin", "tech"} {
		roles = append(roles, map[string]any{"type": role, "min": 1, "max": 1})
	}
	attributes := []any{}
	if tld == "us" {
		attributes = append(attributes, map[string]any{"key": "US_NEXUS_CATEGORY", "type": "enum", "required": true})
	}
	lifecycle := map[string]any{"add_grace_period": "P5D", "default_transfer_renewal_period": map[string]any{"unit": "y", "value": 1}}
	if len(s.account.Terms) > 0 {
		terms := []any{}
		for _, years := range s.account.Terms {
			terms = append(terms, map[string]any{"unit": "y", "value": years})
		}
		lifecycle["registration_periods"], lifecycle["renewal_periods"] = terms, terms
	}
	return reply{status: http.StatusOK, body: map[string]any{
		"tlds":              []any{map[string]any{"name": tld, "type": "gTLD"}},
		"characters":        map[string]any{"min": 1, "max": 63},
		"contacts":          map[string]any{"supported_roles": roles, "possible_attributes": attributes},
		"domain_lifecycle":  lifecycle,
		"domain_statuses":   map[string]any{"default": []any{"ok"}, "supported_statuses": []any{"ok"}},
		"idn":               map[string]any{"idn_capable": true},
		"dns_configuration": map[string]any{"dnssec_allowed": true},
		"local_presence":    map[string]any{"required": tld == "de"},
		"transfer_policies": map[string]any{
			"authinfo_required": true, "authinfo_min_length": 8, "authinfo_max_length": 16, "authinfo_pattern": "^[A-Za-z0-9]+$",
			"authinfo_set_by_registrar": true, "transfer_lock_policy": map[string]any{"supported_by_registry": true, "supported_by_registrar": true},
		},
	}}
}

// hostBody is the body of a request for a host.
type hostBody struct {
	Hostname  string   `json:"hostname"`
	Addresses []string `json:"ip_addresses"`
}

func (s *Server) describeHost(host string) map[string]any {
	addrs := []any{}
	for _, a := range s.hosts[host] {
		addrs = append(addrs, a)
	}
	return map[string]any{"host_id": "host_01h45ytscbebyvny4gc8cr8ma2", "hostname": host, "ip_addresses": addrs, "created_on": stamp(s.now()), "updated_on": stamp(s.now())}
}

func (s *Server) createHost(c call) reply {
	var in hostBody
	if !decode(c, &in) {
		return invalid("not JSON")
	}
	_, parent, _ := strings.Cut(in.Hostname, ".")
	if _, ok := s.object(c.ctx, deed.Name(parent)); !ok {
		return refuse(http.StatusNotFound, "ERROR_PARENT_DOMAIN_NOT_FOUND", "parent-domain-not-found")
	}
	if s.hosts[in.Hostname] != nil {
		return refuse(http.StatusConflict, "ERROR_HOST_ALREADY_EXISTS", "host-already-exists")
	}
	s.hosts[in.Hostname] = in.Addresses
	return reply{status: http.StatusCreated, body: s.describeHost(in.Hostname)}
}

func (s *Server) updateHost(c call) reply {
	var in hostBody
	host := c.r.PathValue("host")
	if !decode(c, &in) || s.hosts[host] == nil {
		return refuse(http.StatusNotFound, "ERROR_HOST_NOT_FOUND", "host-not-found")
	}
	s.hosts[host] = in.Addresses
	return reply{status: http.StatusOK, body: s.describeHost(host)}
}

func (s *Server) deleteHost(c call) reply {
	host := c.r.PathValue("host")
	if s.hosts[host] == nil {
		return refuse(http.StatusNotFound, "ERROR_HOST_NOT_FOUND", "host-not-found")
	}
	for name := range s.records {
		if h, err := s.registry.Holding(c.ctx, name); err == nil && slices.Contains(h.Nameservers, host) {
			return refuse(http.StatusConflict, "ERROR_HOST_IN_USE", "host-in-use")
		}
	}
	delete(s.hosts, host)
	return reply{status: http.StatusNoContent}
}

// Host returns the addresses of a host.
func (s *Server) Host(host string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host]
}

// An Event is an event of the account. Raw replaces all other fields, except that the
// ID is added to it.
type Event struct {
	Object, ObjectType, Type, Subtype, Message string
	Raw                                        map[string]any

	id    string
	at    time.Time
	acked bool
}

// AddEvent adds an event, and returns its ID. The ID of one whose Raw has an event_id
// is not known to the server: it cannot be acknowledged.
func (s *Server) AddEvent(e Event) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addEvent(e)
}

func (s *Server) addEvent(e Event) string {
	e.id, e.at = newID("event"), s.now()
	s.events = append(s.events, e)
	return e.id
}

// DomainID returns the ID of the domain object of a name.
func (s *Server) DomainID(name deed.Name) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[name].id
}

// Unacknowledged returns the number of events that were not acknowledged.
func (s *Server) Unacknowledged() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if !e.acked {
			n++
		}
	}
	return n
}

func (s *Server) listEvents(c call) reply {
	all := []any{}
	for _, e := range s.events {
		out := map[string]any{
			"event_id": e.id, "object_id": nil, "object_type": e.ObjectType, "type": e.Type, "subtype": e.Subtype,
			"event_data": map[string]any{"version": "1.0", "message": e.Message}, "created_on": stamp(e.at), "acknowledged_on": nil,
		}
		if e.Object != "" {
			out["object_id"] = e.Object
		}
		if e.Raw != nil {
			out = map[string]any{"event_id": e.id}
			for k, v := range e.Raw {
				out[k] = v
			}
		}
		if !e.acked {
			all = append(all, out)
		}
	}
	return page(c, all)
}

func (s *Server) acknowledge(c call) reply {
	for i := range s.events {
		if s.events[i].id == c.r.PathValue("event") {
			s.events[i].acked = true
			return reply{status: http.StatusNoContent}
		}
	}
	return refuse(http.StatusNotFound, "ERROR_EVENT_NOT_FOUND", "event-not-found")
}
