package e2e_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// updateDS does what the worker does for the DS of names, and returns how many the
// registry has for first.com.
func (s *env) updateDS(t *testing.T) int {
	t.Helper()
	names, err := s.app.Delegations.Due(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := s.app.Delegations.Advance(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	h, err := s.registry.Holding(t.Context(), "first.com")
	if err != nil {
		t.Fatal(err)
	}
	return len(h.DS)
}

// A name server that cannot be reached holds the DS of a name back for an hour, however
// often the zone changes meanwhile, and propagation says which one it is. Names that
// wait do not keep others from being looked at.
func TestAbsentServerHoldsTheDSBackForAnHour(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		here, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		nobody, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		s := openEnv(t, options{db: db, config: func(c *app.Config) {
			c.DNSListen, c.DNSSEC = here.String(), "on"
			c.Secondaries = []string{"there@" + here.String(), "gone@" + nobody.String()}
		}})
		token := s.bearer(t, s.bought(t, "first.com"))
		if due, err := s.app.Delegations.Due(t.Context(), 10); err != nil || len(due) > 0 {
			t.Fatalf("it is due before it was compared with its registry: %v, %v", due, err)
		}
		s.runLifecycle(t)
		for i := range 7 { // every ten minutes
			if n := s.updateDS(t); n != 0 && i < 6 || n != 1 && i == 6 {
				t.Fatalf("after %d minutes: got %d DS", 10*i, n)
			}
			if due, err := s.app.Delegations.Due(t.Context(), 10); err != nil || len(due) > 0 {
				t.Fatalf("it is due again at once: %v, %v", due, err)
			}
			created(t, s.try(t, "POST", "/dns/first.com", `{"type":"TXT","host":"@","value":"`+strings.Repeat("x", i+1)+`"}`, token).send(t, s))
			s.clock.advance(10 * time.Minute)
		}
		p := read[api.Propagation](t, s.get(t, "/dns/first.com/propagation", "Authorization", token))
		for i, want := range []string{"", "", "nothing listens at its address"} {
			if got := p.Servers[i]; got.InSync != (want == "") || !strings.Contains(got.Error, want) {
				t.Errorf("got %+v, want %q", got, want)
			}
		}
		s.audit(t)
	})
}
