package e2e_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// runLateOrders checks every refunded order that is due.
func (s *env) runLateOrders(t *testing.T) {
	t.Helper()
	for range 10 {
		due, err := s.app.LateOrders.Due(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			return
		}
		for _, id := range due {
			if err := s.app.LateOrders.Advance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		s.clock.advance(time.Minute)
	}
}

// orphans returns the names that a registry holds for nobody, with what the operator is
// told.
func (s *env) orphans(t *testing.T) map[deed.Name]string {
	t.Helper()
	all, err := sqldb.LateOrders{DB: s.db, Now: s.clock.Now}.Orphans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[deed.Name]string{}
	for _, l := range all {
		found[l.Job.Purchase.Name] = l.Detail
	}
	return found
}

// refundedLate buys a name whose order the registry executes in an hour, and waits for
// the refund.
func (e eppEnv) refundedLate(t *testing.T, name string) *account {
	t.Helper()
	e.outside.Faults.Late = time.Hour
	if err := e.outside.Faults.Set(local.FaultLate, order.JobAttempts); err != nil {
		t.Fatal(err)
	}
	owner := e.buyer(t)
	before := e.balance(t, common.HexToAddress(string(owner.wallet)))
	e.register(t, name, e.promise(owner, comPrice).header(t)).expect(t, 202, "")
	e.runWorker(t)
	if got := e.balance(t, common.HexToAddress(string(owner.wallet))); got != before {
		t.Fatalf("the buyer has %s, and had %s: it was not refunded", got, before)
	}
	return owner
}

func logged(into *logtest.Buffer) func(*app.Config) {
	return func(c *app.Config) { c.Log = slog.New(slog.NewTextHandler(into, nil)) }
}

// An order that the registry executes after its refund is found by looking the name up,
// and reported once; nobody owns it, and nothing is deleted unless that is allowed.
func TestLateExecutionIsReported(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var log logtest.Buffer
		e := openEPPEnv(t, db, logged(&log))
		e.refundedLate(t, "late.com")
		e.runLateOrders(t)
		if got := e.orphans(t); len(got) != 0 {
			t.Errorf("before it is executed: got %v", got)
		}
		e.clock.advance(2 * time.Hour)
		e.runLateOrders(t)
		e.clock.advance(3 * 24 * time.Hour)
		e.runLateOrders(t)
		e.holds(t, "late.com")
		if got := e.orphans(t); !strings.Contains(got["late.com"], "delete_orphans") || len(got) != 1 {
			t.Errorf("got %v, want late.com", got)
		}
		if n := strings.Count(log.String(), "executed after its refund"); n != 1 {
			t.Errorf("it was reported %d times:\n%s", n, log.String())
		}
		e.get(t, "/domains/late.com").expect(t, 404, deed.CodeNotFound)
		if found, _ := e.reconcileAll(t); found["late.com"] != lifecycle.DiffersUnknown || len(found) != 1 {
			t.Errorf("reconcile: got %v", found)
		}
		if err := e.app.CountNames(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read[api.Health](t, e.get(t, "/health")); got.Status != "degraded" {
			t.Errorf("health is %s", got.Status)
		}
		e.audit(t)
	})
}

// Where the operator allows it, the name is deleted while the registry returns its
// price, and can be bought again.
func TestLateExecutionIsUndone(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db, func(c *app.Config) { c.Registrars[0].DeleteOrphans = true })
		e.refundedLate(t, "late.com")
		e.clock.advance(2 * time.Hour)
		e.runLateOrders(t)
		if h, err := e.outside.Holding(t.Context(), "late.com"); err == nil {
			t.Errorf("the registry holds %+v", h)
		}
		if got := e.orphans(t); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		e.bought(t, "late.com")
		e.clock.advance(6 * 24 * time.Hour)
		e.runLateOrders(t)
		e.holds(t, "late.com")
		e.runLifecycle(t)
		e.audit(t)
	})
}

// A name that somebody bought since is no orphan, and is never deleted.
func TestOrphanIsNotWhatSomebodyBought(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db, func(c *app.Config) {
			c.Registrars[0].DeleteOrphans = true
			c.Registrars[0].Values["hidden_auth_info"] = "true" // so that both orders look alike
		})
		if err := e.outside.Faults.Set(local.FaultRefuse, 1); err != nil {
			t.Fatal(err)
		}
		e.register(t, "wanted.com", e.promise(e.buyer(t), comPrice).header(t))
		e.runWorker(t)
		e.bought(t, "wanted.com")
		for range 10 {
			e.clock.advance(6 * time.Hour)
			e.runLateOrders(t)
		}
		e.holds(t, "wanted.com")
		e.get(t, "/domains/wanted.com").expect(t, 200, "")
		if got := e.orphans(t); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		e.audit(t)
	})
}

// A name that was transferred to us after the refund is reported and never deleted: it
// is the name of somebody.
func TestLateTransferIsNotDeleted(t *testing.T) {
	e := openLateTransfer(t)
	e.clock.advance(6 * 24 * time.Hour) // the other registrar did not object
	e.runLateOrders(t)
	e.holds(t, "moved.com")
	if got := e.orphans(t); !strings.Contains(got["moved.com"], "transferred") {
		t.Errorf("got %v", got)
	}
	e.audit(t)
}

// A transfer that the registry accepts after the refund is cancelled while it is
// pending, and the name stays where it was.
func TestLateTransferIsCancelled(t *testing.T) {
	e := openLateTransfer(t)
	e.clock.advance(2 * time.Hour)
	e.runLateOrders(t)
	e.clock.advance(6 * 24 * time.Hour)
	e.runLateOrders(t)
	if _, err := e.outside.Holding(t.Context(), "moved.com"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if got := e.orphans(t); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	e.audit(t)
}

// openLateTransfer returns a service that has refunded a transfer, which its registry
// accepts an hour later.
func openLateTransfer(t *testing.T) eppEnv {
	t.Helper()
	e := openEPPEnv(t, nil, func(c *app.Config) { c.Registrars[0].DeleteOrphans = true })
	code, err := e.outside.Elsewhere(t.Context(), "moved.com")
	if err != nil {
		t.Fatal(err)
	}
	e.outside.Faults.Late = time.Hour
	if err := e.outside.Faults.Set(local.FaultLate, order.JobAttempts); err != nil {
		t.Fatal(err)
	}
	body := `{"domain":"moved.com","authCode":"` + code.Reveal() + `"}`
	e.do(t, "POST", "/domains/transfer", body, "PAYMENT-SIGNATURE", e.promise(e.buyer(t), e.transferPrice(t)).header(t)).expect(t, 202, "")
	e.runWorker(t)
	e.get(t, "/domains/moved.com").expect(t, 404, deed.CodeNotFound)
	return e
}

// A renewal that is executed after its refund is reported once; the owner keeps the
// years, and a renewal that was paid for since is not mistaken for it.
func TestLateRenewalIsReported(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var log logtest.Buffer
		e := openEPPEnv(t, db, logged(&log))
		owner := e.bought(t, "first.com")
		e.bought(t, "second.com")
		for _, name := range []string{"first.com", "second.com"} {
			e.outside.Faults.Late = time.Hour
			if err := e.outside.Faults.Set(local.FaultLate, order.JobAttempts); err != nil {
				t.Fatal(err)
			}
			e.renew(t, name, 1, e.promise(owner, comRenewal).header(t)).expect(t, 202, "")
			e.runWorker(t)
		}
		e.renew(t, "second.com", 1, e.promise(owner, comRenewal).header(t)).expect(t, 200, "")
		e.clock.advance(2 * time.Hour)
		for range 2 {
			e.runLateOrders(t)
			e.clock.advance(24 * time.Hour)
		}
		if n := strings.Count(log.String(), "executed after its refund"); n != 1 || !strings.Contains(log.String(), "domain=first.com") {
			t.Errorf("it was reported %d times:\n%s", n, log.String())
		}
		e.runLifecycle(t)
		e.audit(t)
	})
}

// A name of ours that the registry does not hold wakes a person: one line in the log,
// and /health. It stays with its owner.
func TestMissingNameIsReported(t *testing.T) {
	var log logtest.Buffer
	e := openEPPEnv(t, nil, logged(&log))
	e.bought(t, "first.com")
	e.runLifecycle(t)
	e.server.Break(epptest.Fault{Kind: epptest.Refuse, Code: 2303, Times: 100, Only: []string{"info"}})
	for range 3 {
		e.pass(t, 25*time.Hour)
	}
	if n := strings.Count(log.String(), "not in our account at its registry"); n != 1 {
		t.Errorf("it was reported %d times:\n%s", n, log.String())
	}
	if err := e.app.CountNames(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := read[api.Health](t, e.get(t, "/health")); got.Status != "degraded" {
		t.Errorf("health is %s", got.Status)
	}
	if got := e.domain(t, "first.com"); got.Status != string(lifecycle.StatusSuspended) {
		t.Errorf("it is %s", got.Status)
	}
}

// reconcileAll compares the env with all its registrars.
func (e eppEnv) reconcileAll(t *testing.T) (map[string]lifecycle.DifferenceKind, registration.Reconciliation) {
	t.Helper()
	r := e.app.Reconciler()
	r.Pause = func(context.Context) {}
	all, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]lifecycle.DifferenceKind{}
	for _, d := range all.Differences {
		found[string(d.Name)] = d.What
	}
	return found, all
}
