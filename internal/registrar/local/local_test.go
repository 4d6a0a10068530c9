package local_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/registrartest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// start is a leap day, for the edge cases of adding years.
var start = time.Date(2028, time.February, 29, 12, 0, 0, 500, time.UTC)

// A clock only moves with Advance.
type clock struct{ passed atomic.Int64 }

func (c *clock) Now() time.Time          { return start.Add(time.Duration(c.passed.Load())) }
func (c *clock) Advance(d time.Duration) { c.passed.Add(int64(d)) }

func open(db *sqldb.DB) (*local.Registry, *clock) {
	c := &clock{}
	return &local.Registry{Store: sqldb.Registry{DB: db}, Now: c.Now, Faults: &local.Faults{Slow: time.Hour, Late: time.Minute, Store: sqldb.Faults{DB: db}}}, c
}

// newEnv returns the Env of the suites for the registry on db.
func newEnv(db *sqldb.DB) registrartest.Env {
	r, c := open(db)
	return registrartest.Env{
		Registrar: r,
		Reserved:  "whois.com",
		Now:       c.Now,
		Advance:   c.Advance,
		Late:      r.Faults.Late,
		Break: func(t *testing.T, f registrartest.Fault, times int) {
			kind, err := local.ParseFault(string(f))
			if err != nil {
				t.Fatal(err)
			}
			set(t, r, kind, times)
		},
		Manager:   r,
		Inventory: r,
		GraceDays: 45,
		Elsewhere: func(t *testing.T, n deed.Name) deed.Secret {
			code, err := r.Elsewhere(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return code
		},
		Leave:  func(n deed.Name, code deed.Secret) error { return r.Leave(context.Background(), n, code) },
		Decide: func(n deed.Name, approve bool) error { return r.Decide(context.Background(), n, approve) },
	}
}

func TestSuites(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		registrartest.All(t, registrartest.ByReference, func(t *testing.T) registrartest.Env { return newEnv(sqldbtest.SQLite(t)) })
	})
	t.Run("postgres", func(t *testing.T) {
		empty := emptyPostgres(t)
		registrartest.All(t, registrartest.ByReference, func(t *testing.T) registrartest.Env { return newEnv(empty(t)) })
	})
}

// emptyPostgres opens a database, and returns a function that deletes what the registry has
// in it: that is faster than to create another one.
func emptyPostgres(t *testing.T) func(*testing.T) *sqldb.DB {
	t.Helper()
	url := sqldbtest.MigratedPostgresURL(t)
	db, err := sqldb.OpenPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database is deleted
	return func(t *testing.T) *sqldb.DB {
		t.Helper()
		raw, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close() // its one statement is complete
		if _, err := raw.ExecContext(t.Context(), `TRUNCATE registry_names, registry_orders, registry_faults`); err != nil {
			t.Fatal(err)
		}
		return db
	}
}

// A name can be bought again exactly when it is deleted. From then on the first
// buyer's order is absent.
func TestDeletedNameCanBeBought(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, c := open(db)
		buy := func(reference string) deed.Code {
			return deed.CodeOf(r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: "suite.dev", Years: 1}))
		}
		if code := buy("first"); code != "" {
			t.Fatal(code)
		}
		free := start.AddDate(1, 0, 45+30+5)
		c.Advance(free.Add(-time.Second).Sub(start))
		if code := buy("too early"); code != deed.CodeDomainUnavailable {
			t.Errorf("a second before it is free: got %q", code)
		}
		c.Advance(time.Second)
		if a, err := r.Available(t.Context(), "suite.dev"); err != nil || !a.Available {
			t.Errorf("free again: got %+v, %v", a, err)
		}
		if code := buy("second"); code != "" {
			t.Errorf("free again: got %q", code)
		}
		for reference, want := range map[string]registrar.OrderState{"first": registrar.OrderAbsent, "too early": registrar.OrderAbsent, "second": registrar.OrderDone} {
			if got, err := r.Order(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: "suite.dev", Years: 1}); err != nil || got.State != want {
				t.Errorf("%s: got %s, %v, want %s", reference, got.State, err, want)
			}
		}
		if code := buy("first"); code != deed.CodeDomainUnavailable {
			t.Errorf("the first again: got %q", code)
		}
	})
}

func TestReservedAndPremium(t *testing.T) {
	r, _ := open(sqldbtest.SQLite(t))
	r.Own = []deed.Name{"deed.dev"}
	for name, want := range map[deed.Name]registrar.Availability{
		"anything.test":      {Reason: "reserved"},
		"anything.home.arpa": {Reason: "reserved"},
		"example.com":        {Reason: "reserved"},
		"example.dev":        {Available: true},
		"test.com":           {Available: true},
		"nic.dev":            {Reason: "reserved"},
		"www.co.uk":          {Reason: "reserved"},
		"x.org":              {Reason: "reserved"},
		"x.io":               {Available: true},
		"7.org":              {Available: true},
		"deed.dev":           {Reason: "reserved"},
		"ab.io":              {Available: true, Premium: true, Wholesale: 250_000_000, Renewal: 80_000_000},
		"ab.com":             {Available: true, Premium: true, Wholesale: 2_500_000_000, Renewal: 2_500_000_000},
		"ab.dev":             {Available: true},
		"abc.com":            {Available: true},
	} {
		if got, err := r.Available(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	for name, want := range map[deed.Name]deed.Code{"ab.io": deed.CodeValidation, "abc.io": ""} {
		code, err := r.Elsewhere(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Transferable(t.Context(), name, code); deed.CodeOf(err) != want {
			t.Errorf("the transfer of %s: got %v, want %q", name, err, want)
		}
	}
}

// A name that is reserved after it was sold stays with its buyer.
func TestReservedAfterSale(t *testing.T) {
	r, _ := open(sqldbtest.SQLite(t))
	for range 2 {
		if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "deed.dev", Years: 1}); err != nil {
			t.Error(err)
		}
		r.Own = []deed.Name{"deed.dev"}
	}
}

func TestInvalidOrders(t *testing.T) {
	r, _ := open(sqldbtest.SQLite(t))
	for _, o := range []registrar.Order{
		{Kind: registrar.OrderRegister, Reference: "", Name: "one.dev", Years: 1},
		{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 0},
		{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 11},
		{Kind: registrar.OrderRenew, Reference: "a", Name: "one.dev", Years: 0},
		{Kind: registrar.OrderTransfer, Reference: "", Name: "one.dev"},
		{Kind: "", Reference: "a", Name: "one.dev", Years: 1},
		{Kind: "delete", Reference: "a", Name: "one.dev", Years: 1},
	} {
		if err := r.Place(t.Context(), o); deed.CodeOf(err) != deed.CodeRegistrationFailed {
			t.Errorf("%+v: got %v", o, err)
		}
	}
	bad := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 1, Nameservers: []string{"one"}}
	if err := r.Place(t.Context(), bad); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("%+v: got %v", bad, err)
	}
}

// Each TLD has its own range of years and its own grace period, which may be zero.
func TestRules(t *testing.T) {
	r, c := open(sqldbtest.SQLite(t))
	r.Rules = func(tld deed.TLD) local.Rules {
		return map[deed.TLD]local.Rules{
			"ai": {MinYears: 2, MaxYears: 9, GraceDays: 30},
			"de": {MinYears: 1, MaxYears: 1},
		}[tld]
	}
	for name, years := range map[deed.Name][2]int{"one.ai": {2, 9}, "one.de": {1, 1}, "one.dev": {1, 10}} {
		for _, y := range []int{years[0] - 1, years[1] + 1} {
			o := registrar.Order{Kind: registrar.OrderRegister, Reference: fmt.Sprint(name, y), Name: name, Years: y}
			if err := r.Place(t.Context(), o); deed.CodeOf(err) != deed.CodeRegistrationFailed {
				t.Errorf("%s for %d years: got %v", name, y, err)
			}
		}
		o := registrar.Order{Kind: registrar.OrderRegister, Reference: string(name), Name: name, Years: 2}
		if name == "one.de" {
			o.Years = 1
		}
		if err := r.Place(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	phases := func(want map[deed.Name]lifecycle.Phase) {
		t.Helper()
		for name, phase := range want {
			if h, err := r.Holding(t.Context(), name); err != nil || h.Phase != phase {
				t.Errorf("%s: got %s, %v, want %s", name, h.Phase, err, phase)
			}
		}
	}
	c.Advance(start.AddDate(1, 0, 0).Sub(c.Now()))
	phases(map[deed.Name]lifecycle.Phase{"one.ai": lifecycle.PhaseActive, "one.de": lifecycle.PhaseRedemption})
	c.Advance(start.AddDate(2, 0, 30).Sub(c.Now()))
	phases(map[deed.Name]lifecycle.Phase{"one.ai": lifecycle.PhaseRedemption, "one.dev": lifecycle.PhaseGrace})
	if a, err := r.Available(t.Context(), "one.de"); err != nil || !a.Available {
		t.Errorf("a name without grace: got %+v, %v", a, err)
	}
}

// The functions of the other registrar are subject to the same rules.
func TestOtherRegistrarRefuses(t *testing.T) {
	r, _ := open(sqldbtest.SQLite(t))
	if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []deed.Name{"one.dev", "nic.dev"} {
		if _, err := r.Elsewhere(t.Context(), name); deed.CodeOf(err) != deed.CodeDomainUnavailable {
			t.Errorf("%s elsewhere: got %v", name, err)
		}
	}
	if err := r.Leave(t.Context(), "two.dev", "code"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("leave: got %v", err)
	}
	if err := r.Decide(t.Context(), "two.dev", true); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("decide: got %v", err)
	}
	if a, err := r.Available(t.Context(), "two.dev"); err != nil || !a.Available {
		t.Errorf("got %+v, %v", a, err)
	}
}
