package epptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// above returns the name in the registry that the host is below, and who holds it.
func (s *Server) above(host string) (holder string, internal bool) {
	for _, rest, ok := strings.Cut(host, "."); ok; _, rest, ok = strings.Cut(rest, ".") {
		name, err := deed.ParseName(rest)
		if err != nil {
			continue
		}
		if e, ok := s.entry(name); ok && e.HeldAt(s.now()) {
			return clientOf(e.Account), true
		}
	}
	return "", false
}

// hostsBelow returns the hosts below a name.
func (s *Server) hostsBelow(name deed.Name) (hosts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.hosts {
		if lifecycle.Below(h, name) {
			hosts = append(hosts, h)
		}
	}
	slices.Sort(hosts)
	return hosts
}

func (s *Server) hostCheck(in names) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := `<host:chkData xmlns:host="` + nsHost + `">`
	for _, h := range in.Names {
		_, ok := s.hosts[strings.ToLower(h)]
		data += fmt.Sprintf(`<host:cd><host:name avail="%t">%s</host:name></host:cd>`, !ok, strings.ToLower(h))
	}
	return answer{code: 1000, data: data + `</host:chkData>`}
}

func (s *Server) hostInfo(in host) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs, ok := s.hosts[strings.ToLower(in.Name)]
	if !ok {
		return answer{code: 2303}
	}
	data := `<host:infData xmlns:host="` + nsHost + `">` + element("host:name", in.Name) + `<host:status s="ok"/>`
	for _, a := range addrs {
		version := "v4"
		if strings.Contains(a, ":") {
			version = "v6"
		}
		data += `<host:addr ip="` + version + `">` + a + `</host:addr>`
	}
	return answer{code: 1000, data: data + element("host:clID", s.hostOwner[in.Name]) + `</host:infData>`}
}

func (s *Server) hostCreate(c *client, in host) answer {
	name := strings.ToLower(in.Name)
	holder, internal := s.above(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, exists := s.hosts[name]
	switch {
	case exists:
		return answer{code: 2302}
	case internal && holder != c.clID:
		return answer{code: 2201}
	case internal && len(in.Addrs) == 0:
		return answer{code: 2003, reason: "a host below a name of this registry needs an address"}
	}
	s.hosts[name], s.hostOwner[name] = in.Addrs, c.clID
	return answer{code: 1000, data: `<host:creData xmlns:host="` + nsHost + `">` + element("host:name", name) + element("host:crDate", stamp(s.now())) + `</host:creData>`}
}

func (s *Server) hostUpdate(c *client, in host) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs, ok := s.hosts[strings.ToLower(in.Name)]
	switch {
	case !ok:
		return answer{code: 2303}
	case s.hostOwner[in.Name] != c.clID:
		return answer{code: 2201}
	}
	addrs = slices.DeleteFunc(slices.Clone(addrs), func(a string) bool { return slices.Contains(in.Rem, a) })
	s.hosts[strings.ToLower(in.Name)] = append(addrs, in.Add...)
	return answer{code: 1000}
}

func (s *Server) hostDelete(c *client, in host) answer {
	entries, err := s.cfg.Registry.Store.Entries(s.ctx, accounts[c.clID], "", 1000, s.now())
	if err != nil {
		return answer{}
	}
	for _, e := range entries {
		if slices.Contains(e.Nameservers, strings.ToLower(in.Name)) {
			return answer{code: 2305}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.hosts[strings.ToLower(in.Name)]; !ok {
		return answer{code: 2303}
	}
	delete(s.hosts, strings.ToLower(in.Name))
	return answer{code: 1000}
}

// DropHosts deletes all hosts.
func (s *Server) DropHosts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.hosts)
}

// Host returns the addresses of a host.
func (s *Server) Host(name string) ([]string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	addrs, ok := s.hosts[name]
	return addrs, ok
}

// A queued message waits for a registrar.
type queued struct{ id, date, text, data, ext string }

// notify queues a message.
func (s *Server) notify(clID, text, data string) { s.NotifyWith(clID, text, data, "") }

// NotifyWith queues a message with any content in its data and its extension.
func (s *Server) NotifyWith(clID, text, data, ext string) {
	now := stamp(s.now())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.queues[clID] = append(s.queues[clID], queued{strconv.Itoa(s.lastID), now, text, data, ext})
}

// Notify queues a message with any content in its data.
func (s *Server) Notify(clID, text, data string) { s.notify(clID, text, data) }

// Queued returns how many messages wait for a registrar.
func (s *Server) Queued(clID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queues[clID])
}

func (s *Server) poll(c *client, in poll) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[c.clID]
	switch {
	case in.Op == "req" && len(q) == 0:
		return answer{code: 1300}
	case in.Op == "req":
		return answer{code: 1301, data: q[0].data, ext: q[0].ext, queue: fmt.Sprintf(`<msgQ count="%d" id="%s">%s%s</msgQ>`, len(q), q[0].id, element("qDate", q[0].date), element("msg", q[0].text))}
	case len(q) == 0 || q[0].id != in.MsgID:
		return answer{code: 2303}
	}
	s.queues[c.clID] = q[1:]
	return answer{code: 1000, queue: fmt.Sprintf(`<msgQ count="%d" id="%s"/>`, len(q)-1, in.MsgID)}
}

// HoldCreates makes the registration of a name wait for a decision.
func (s *Server) HoldCreates(name deed.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[name] = true
}

// DropCreate ends the wait: the registration was refused.
func (s *Server) DropCreate(name deed.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, name)
	delete(s.waiting, name)
}
