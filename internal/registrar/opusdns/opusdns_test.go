package opusdns_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
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

// An env is a backend with the vendor that it talks to.
type env struct {
	*opusdns.Backend
	clock
	vendor   *opusdnstest.Server
	registry *local.Registry
	checker  *opusdnstest.Checker
	url      string
}

// open returns a backend at a vendor whose requests and replies are checked. The
// registrant exists, and the rules of .com are known, so that the first request of
// each call is the one that the call is about.
func open(t *testing.T, change ...func(*opusdns.Config)) *env {
	t.Helper()
	e := &env{}
	e.registry = &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Now: e.Now}
	e.vendor = opusdnstest.NewServer(e.registry)
	e.checker = &opusdnstest.Checker{Next: e.vendor}
	server := httptest.NewServer(e.checker)
	t.Cleanup(server.Close)
	e.url = server.URL
	config := opusdns.Config{
		BaseURL: server.URL, Key: opusdnstest.Key, Secret: "a secret of the test", Organization: opusdnstest.Organization, Contact: e.vendor.AddContact(),
		RequestsPerSecond: 100_000, Timeout: time.Minute, PageSize: 3, Now: e.Now,
	}
	for _, f := range change {
		f(&config)
	}
	backend, err := opusdns.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	e.Backend = backend
	if _, err := e.Available(t.Context(), "warm-up.com"); err != nil {
		t.Fatal(err)
	}
	return e
}

// conforms fails the test when a request or a reply was not as documented.
func (e *env) conforms(t *testing.T) {
	t.Helper()
	if found := e.checker.Violations(); len(found) > 0 {
		t.Errorf("%d violations of the vendor's rules:\n%s", len(found), strings.Join(found[:min(len(found), 10)], "\n"))
	}
}

// suiteFaults maps the faults of the suites. Down is 503 here, because package http
// sends a GET again whose connection was closed.
var suiteFaults = map[registrartest.Fault]opusdnstest.Fault{
	registrartest.Down: opusdnstest.Unavailable, registrartest.Slow: opusdnstest.Slow, registrartest.Refuse: opusdnstest.Refuse,
	registrartest.LostReply: opusdnstest.LostReply, registrartest.Late: opusdnstest.Late, registrartest.Taken: opusdnstest.Taken,
	registrartest.WrongAccount: opusdnstest.WrongAccount,
}

func suiteEnv(t *testing.T) registrartest.Env {
	e := open(t)
	t.Cleanup(func() { e.conforms(t) })
	return registrartest.Env{
		Registrar: e.Backend,
		Reserved:  "whois.com",
		Now:       e.Now,
		Advance:   e.Advance,
		Late:      opusdnstest.LateBy,
		Break: func(t *testing.T, f registrartest.Fault, times int) {
			fault, ok := suiteFaults[f]
			if !ok {
				t.Skipf("the vendor has no fault %s", f)
			}
			e.vendor.Break(fault, times)
		},
		Received:  e.vendor.Received,
		Manager:   e.Backend,
		Inventory: e.Backend,
		GraceDays: 45,
		Elsewhere: func(t *testing.T, n deed.Name) deed.Secret {
			code, err := e.registry.Elsewhere(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return code
		},
		Leave:  func(n deed.Name, code deed.Secret) error { return e.registry.Leave(context.Background(), n, code) },
		Decide: func(n deed.Name, approve bool) error { return e.registry.Decide(context.Background(), n, approve) },
	}
}

func TestSuites(t *testing.T) { registrartest.All(t, registrartest.ByState, suiteEnv) }

// register registers a name, or fails the test.
func (e *env) register(t *testing.T, name deed.Name) {
	t.Helper()
	if err := e.Place(t.Context(), e.order(name)); err != nil {
		t.Fatalf("register %s: %v", name, err)
	}
}

// order returns an order for a new name, submitted now.
func (e *env) order(name deed.Name) registrar.Order {
	return registrar.Order{Kind: registrar.OrderRegister, Reference: "order of " + string(name), Name: name, Years: 1, Submitted: e.Now()}
}
