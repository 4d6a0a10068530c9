package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// own is a request with name servers below first.com.
const own = `{"nameservers":[{"host":"NS1.first.com.","addresses":["2001:db8::1","192.0.2.1"]},"ns2.example.net"]}`

// A name is delegated to servers below itself, through each kind of registrar: their
// addresses are at the registry, in the answer, and gone with the servers.
func TestGlue(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.bought(t, "first.com")
		e.register(t, "second.dev", e.promise(owner, e.price(t, "second.dev")).header(t)).expect(t, 201, "")
		bearer := []string{"Authorization", e.bearer(t, owner)}
		put := func(name, body string) answer {
			t.Helper()
			return e.do(t, "PUT", "/domains/"+name+"/nameservers", body, bearer...)
		}
		d := delegated(t, put("first.com", own))
		if len(d.Glue) != 1 || d.Glue[0].Host != "ns1.first.com" || !slices.Equal(d.Glue[0].Addresses, []string{"192.0.2.1", "2001:db8::1"}) {
			t.Errorf("got %+v", d.Glue)
		}
		for _, path := range []string{"/rdap/domain/first.com", "/rdap/nameserver/ns1.first.com"} {
			if got := e.get(t, path); strings.Count(got.body, `"ipAddresses":{"v4":["192.0.2.1"],"v6":["2001:db8::1"]}`) != 1 || strings.Count(got.body, "ipAddresses") != 1 {
				t.Errorf("%s: got %s", path, got.body)
			}
		}
		if addrs, ok := e.server.Host("ns1.first.com"); !ok || len(addrs) != 2 {
			t.Errorf("at the registry: got %v, %t", addrs, ok)
		}
		delegated(t, put("first.com", `{"nameservers":[{"host":"ns1.first.com","addresses":["192.0.2.7"]},"ns2.example.net"]}`))
		if addrs, _ := e.server.Host("ns1.first.com"); !slices.Equal(addrs, []string{"192.0.2.7"}) {
			t.Errorf("changed at the registry: got %v", addrs)
		}
		e.runLifecycle(t) // the registry's record is the same
		if got := e.domain(t, "first.com"); len(got.Glue) != 1 || got.Glue[0].Addresses[0] != "192.0.2.7" || slices.ContainsFunc(got.Events, func(ev api.DomainEvent) bool { return ev.Type == "corrected_by_registry" }) {
			t.Errorf("got %+v, %+v", got.Glue, got.Events)
		}
		d = delegated(t, put("first.com", `{"nameservers":[]}`))
		if _, left := e.server.Host("ns1.first.com"); left || len(d.Glue) != 0 {
			t.Errorf("the host is left: %t, %v", left, d.Glue)
		}

		d = delegated(t, put("second.dev", `{"nameservers":[{"host":"second.dev","addresses":["192.0.2.1"]},{"host":"a.b.second.dev","addresses":["2001:db8::2"]}]}`))
		h, err := e.registry.Holding(t.Context(), "second.dev")
		if err != nil || len(d.Glue) != 2 || h.Glue.String() != "a.b.second.dev=2001:db8::2 second.dev=192.0.2.1" {
			t.Errorf("the embedded registry has %q, %v; answered %+v", h.Glue, err, d.Glue)
		}
		e.audit(t)
	})
}

// What cannot be glue is refused before anything changes.
func TestBadGlue(t *testing.T) {
	e := openEnv(t, options{})
	bearer := e.bearer(t, e.bought(t, "first.com"))
	server := func(rest string) string {
		return `{"nameservers":[{"host":"ns1.first.com"` + rest + `},"ns2.example.net"]}`
	}
	for title, body := range map[string]string{
		"no addresses":               `{"nameservers":["ns1.first.com","ns2.example.net"]}`,
		"an empty list":              server(`,"addresses":[]`),
		"null":                       server(`,"addresses":null`),
		"not an address":             server(`,"addresses":["here"]`),
		"a private address":          server(`,"addresses":["10.0.0.1"]`),
		"a loopback address":         server(`,"addresses":["127.0.0.1"]`),
		"a mapped loopback address":  server(`,"addresses":["::ffff:127.0.0.1"]`),
		"an address of a link":       server(`,"addresses":["fe80::1"]`),
		"an address with a zone":     server(`,"addresses":["2001:db8::1%eth0"]`),
		"the same address twice":     server(`,"addresses":["192.0.2.1","::ffff:192.0.2.1"]`),
		"an address with a port":     server(`,"addresses":["192.0.2.1:53"]`),
		"an unknown field":           server(`,"addresses":["192.0.2.1"],"x":1`),
		"a number":                   `{"nameservers":[1,2]}`,
		"addresses of another's":     `{"nameservers":[{"host":"ns1.example.net","addresses":["192.0.2.1"]},"ns2.example.net"]}`,
		"the same host twice":        `{"nameservers":[{"host":"ns1.first.com","addresses":["192.0.2.1"]},{"host":"NS1.first.com","addresses":["192.0.2.2"]}]}`,
		"without a host":             `{"nameservers":[{"addresses":["192.0.2.1"]},"ns2.example.net"]}`,
		"one server with an address": `{"nameservers":[{"host":"ns1.first.com","addresses":["192.0.2.1"]}]}`,
	} {
		if got := e.do(t, "PUT", "/domains/first.com/nameservers", body, "Authorization", bearer); got.status != 400 || got.error(t).Code != string(deed.CodeValidation) {
			t.Errorf("%s: got %d %s", title, got.status, got.body)
		}
	}
	if d := e.domain(t, "first.com"); d.Nameservers[0] != "ns1.deed.example" || d.Glue != nil || len(e.domain(t, "first.com").Events) != 1 {
		t.Errorf("got %+v", d)
	}
}

// A bare manager hides what a registrar can do beyond the contract.
type bareManager struct{ registrar.Manager }

// A registrar that cannot publish addresses is a clear error before the DS of a
// signed name is removed.
func TestGlueIsNotSupported(t *testing.T) {
	e := openEnv(t, options{})
	m := openMover(t, e)
	m.api.Registrations.Manager = bareManager{m.api.Registrations.Manager}
	m.put("nameservers", own).expect(t, 400, deed.CodeValidation)
	m.is("unchanged", m.domain(t, "first.com"), "ns1.deed.example", "", 1)
}

// The move of a signed name keeps the addresses until the servers change.
func TestMoveWithGlue(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		out := m.delegate(own)
		m.is("out", out, "ns1.deed.example", "withdrawing", 0)
		if len(out.Glue) != 0 || len(out.Delegation.Glue) != 1 || len(out.Delegation.Glue[0].Addresses) != 2 {
			t.Errorf("got %+v, moving to %+v", out.Glue, out.Delegation.Glue)
		}
		m.delegate(`{"nameservers":[{"host":"ns1.first.com","addresses":["192.0.2.9"]},"ns2.example.net"]}`)
		done := m.due(m.domain(t, "first.com").Delegation.EffectiveAt.Sub(s.clock.Now()))
		m.is("moved", done, "ns1.first.com", "", 0)
		if len(done.Glue) != 1 || !slices.Equal(done.Glue[0].Addresses, []string{"192.0.2.9"}) {
			t.Errorf("got %+v", done.Glue)
		}
		h, err := m.registry.Holding(t.Context(), "first.com")
		if err != nil || h.Glue.String() != "ns1.first.com=192.0.2.9" {
			t.Errorf("at the registry: got %q, %v", h.Glue, err)
		}
	})
}
