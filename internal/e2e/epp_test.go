package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An eppEnv is a service that buys .com over EPP, and all other names from the
// embedded registry.
type eppEnv struct {
	*env
	outside *local.Registry // behind the EPP server
	server  *epptest.Server
}

// openEPPEnv opens one; the changes are applied to its configuration at the end.
func openEPPEnv(t *testing.T, db *sqldb.DB, changes ...func(*app.Config)) eppEnv {
	return openEPPEnvWith(t, db, epptest.Config{}, nil, changes...)
}

// openEPPEnvWith opens an eppEnv whose registry behaves like that, with more settings.
func openEPPEnvWith(t *testing.T, db *sqldb.DB, config epptest.Config, settings map[string]string, changes ...func(*app.Config)) eppEnv {
	t.Helper()
	e := eppEnv{outside: &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Faults: &local.Faults{Slow: time.Millisecond}}}
	files := epptest.ClientFiles(t, 90*24*time.Hour)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(epptest.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.env = openEnv(t, options{db: db, config: func(c *app.Config) {
		e.outside.Now = c.Hooks.Now
		config.Registry = e.outside
		e.server = epptest.Start(t, config)
		values := map[string]string{
			"address": e.server.Addr(), "client_id": epptest.ClientID, "password_file": password,
			"cert_file": files.Cert, "key_file": files.Key, "ca_file": files.CA, "timeout": "1m", "lookups_per_second": "10000",
		}
		maps.Copy(values, settings)
		c.Registrars = []app.RegistrarConfig{
			{Name: "outside", Type: "epp", TLDs: []string{"com"}, Values: values},
			{Name: "local", Type: "local", TLDs: []string{"*"}},
		}
		for _, change := range changes {
			change(c)
		}
	}})
	return e
}

// holds fails the test unless the outside registry holds the name for us.
func (e eppEnv) holds(t *testing.T, name deed.Name) {
	t.Helper()
	if _, err := e.outside.Holding(t.Context(), name); err != nil {
		t.Errorf("the registry does not hold %s: %v", name, err)
	}
}

// price returns the price of a year of a new name.
func (e eppEnv) price(t *testing.T, name deed.Name) deed.USDC {
	t.Helper()
	q, err := e.api.Catalog.NewName(name, 1, registrar.Availability{Available: true})
	if err != nil {
		t.Fatal(err)
	}
	return q.Amount
}

// Names over EPP are bought, managed, renewed and transferred through the same
// interface as those of the embedded registry, and the row of each says who holds it.
func TestNamesOverEPP(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.buyer(t)
		e.register(t, "first.com", e.promise(owner, comPrice).header(t)).expect(t, 201, "")
		e.holds(t, "first.com")
		e.register(t, "second.dev", e.promise(owner, e.price(t, "second.dev")).header(t)).expect(t, 201, "")
		if _, err := e.registry.Holding(t.Context(), "second.dev"); err != nil {
			t.Errorf("the embedded registry does not hold second.dev: %v", err)
		}
		if _, err := e.registry.Holding(t.Context(), "first.com"); err == nil {
			t.Error("both registries hold first.com")
		}
		for name, want := range map[deed.Name]string{"first.com": "outside", "second.dev": "local"} {
			r, err := sqldb.Registrations{DB: e.db}.Registration(t.Context(), name)
			if err != nil || r.Backend != want {
				t.Errorf("%s is held by %q, %v, want %q", name, r.Backend, err, want)
			}
		}

		bearer := []string{"Authorization", e.bearer(t, owner)}
		was := e.domain(t, "first.com").ExpiresAt
		e.renew(t, "first.com", 2, e.promise(owner, 2*comRenewal).header(t)).expect(t, 200, "")
		if got := e.domain(t, "first.com").ExpiresAt; !got.Equal(was.AddDate(2, 0, 0)) {
			t.Errorf("renewed: got %s, was %s", got, was)
		}
		e.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, bearer...).expect(t, 200, "")
		code := read[api.AuthCode](t, e.do(t, "POST", "/domains/first.com/authcode", "", bearer...))
		if code.AuthCode == "" {
			t.Error("no auth code")
		}
		e.do(t, "PUT", "/domains/first.com/nameservers", `{"nameservers":["ns1.elsewhere.net","ns2.elsewhere.net"]}`, bearer...).expect(t, 200, "")
		if h, err := e.outside.Holding(t.Context(), "first.com"); err != nil || h.Locked || len(h.Nameservers) != 2 || h.Nameservers[0] != "ns1.elsewhere.net" {
			t.Errorf("got %+v, %v", h, err)
		}

		there, err := e.outside.Elsewhere(t.Context(), "moved.com")
		if err != nil {
			t.Fatal(err)
		}
		body := `{"domain":"moved.com","authCode":"` + there.Reveal() + `"}`
		e.do(t, "POST", "/domains/transfer", body, "PAYMENT-SIGNATURE", e.promise(owner, e.transferPrice(t)).header(t)).expect(t, 202, "")
		if err := e.outside.Decide(t.Context(), "moved.com", true); err != nil {
			t.Fatal(err)
		}
		e.runWorker(t)
		e.holds(t, "moved.com")
		e.runLifecycle(t)
		e.audit(t)
	})
}

// Money and names agree whatever happens to the registry's answers.
func TestEPPFaults(t *testing.T) {
	for title, c := range map[string]struct {
		fault     epptest.Fault
		registry  local.Fault
		delivered bool
	}{
		"the reply is lost":                {epptest.Fault{Kind: epptest.CutAfter, Times: 1, Only: []string{"create"}}, local.FaultNone, true},
		"cut before the command":           {epptest.Fault{Kind: epptest.CutBefore, Times: 1, Only: []string{"create"}}, local.FaultNone, true},
		"refused by the registry":          {epptest.Fault{}, local.FaultRefuse, false},
		"taken by somebody else":           {epptest.Fault{}, local.FaultTaken, false},
		"the reply is for another command": {epptest.Fault{Kind: epptest.OtherTRID, Times: 1, Only: []string{"create"}}, local.FaultNone, true},
	} {
		t.Run(title, func(t *testing.T) {
			e := openEPPEnv(t, nil)
			owner := e.buyer(t)
			e.server.Break(c.fault)
			if err := e.outside.Faults.Set(c.registry, 1); err != nil {
				t.Fatal(err)
			}
			e.register(t, "first.com", e.promise(owner, comPrice).header(t))
			e.runWorker(t)
			if got := e.get(t, "/domains/first.com").status == 200; got != c.delivered {
				t.Errorf("delivered %t, want %t", got, c.delivered)
			}
			e.audit(t)
		})
	}
}

// A registry that is down takes only its own names down: nothing is charged, search
// says unknown, and the other registrar sells.
func TestEPPRegistryIsDown(t *testing.T) {
	e := openEPPEnv(t, nil)
	e.server.Close()
	owner := e.buyer(t)
	e.register(t, "first.com", e.promise(owner, comPrice).header(t)).expect(t, 503, deed.CodeUnavailable)
	e.register(t, "second.dev", e.promise(owner, e.price(t, "second.dev")).header(t)).expect(t, 201, "")
	if got := e.balance(t, e.payTo) - 1_000_000_000_000; got != e.price(t, "second.dev") {
		t.Errorf("%s were charged", got)
	}
}

// A registry that is down for an hour after the payment refunds nobody: the job waits,
// and delivers when it is back.
func TestEPPRegistryIsDownForAnHour(t *testing.T) {
	e := openEPPEnv(t, nil)
	owner := e.buyer(t)
	e.server.Break(epptest.Fault{Kind: epptest.CutBefore, Times: 1, Only: []string{"create"}})
	e.register(t, "first.com", e.promise(owner, comPrice).header(t))
	e.server.Maintain(true)
	for range 60 {
		e.clock.advance(time.Minute)
		jobs, err := e.api.Payments.DueJobs(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range jobs {
			_ = e.api.Payments.AdvanceJob(t.Context(), id) // the registry is down
		}
	}
	e.server.Maintain(false)
	e.runWorker(t)
	e.get(t, "/domains/first.com").expect(t, 200, "")
	e.holds(t, "first.com")
	e.audit(t)
}

// A message of the registry is written down, then acknowledged, and the name that it
// is about is looked up; one without sense stops nothing.
func TestEPPMessages(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		e.bought(t, "first.com")
		e.runLifecycle(t)
		e.server.Notify(epptest.ClientID, "a message about nothing", `<x xmlns="urn:nobody:knows">?</x>`)
		e.server.Notify(epptest.ClientID, "changed", `<domain:infData xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>first.com</domain:name></domain:infData>`)
		due, err := e.lifecycle.Due(t.Context(), 10)
		if err != nil || len(due) != 0 {
			t.Fatalf("got %v, %v, want nothing due", due, err)
		}
		if err := e.app.Messages().Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := e.server.Queued(epptest.ClientID); n != 0 {
			t.Errorf("%d messages wait", n)
		}
		if due, err = e.lifecycle.Due(t.Context(), 10); err != nil || len(due) != 1 || due[0] != "first.com" {
			t.Errorf("got %v, %v, want first.com to be due", due, err)
		}
	})
}
