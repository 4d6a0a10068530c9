package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// advanceJobs advances the jobs that are due.
func (s *env) advanceJobs(t *testing.T) {
	t.Helper()
	due, err := s.api.Payments.DueJobs(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range due {
		_ = s.api.Payments.AdvanceJob(t.Context(), id) // what is open stays due
	}
}

// downForAnHour lets an hour pass while the registry does not answer. Nothing is
// refunded meanwhile.
func (e eppEnv) downForAnHour(t *testing.T) {
	t.Helper()
	e.server.Maintain(true)
	for range 60 {
		e.clock.advance(time.Minute)
		e.advanceJobs(t)
		if refunds, err := e.api.Payments.DueRefunds(t.Context(), 100); err != nil || len(refunds) > 0 {
			t.Fatalf("got %v, %v, want no refund of what may still be executed", refunds, err)
		}
	}
	e.server.Maintain(false)
	for e.api.Health.Report(t.Context()).Parts["registrar"].Status != health.OK {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // sessions are opened again by the clock of the machine
	}
}

// approve approves the transfer of a name to us as soon as it was requested.
func (e eppEnv) approve(t *testing.T, name deed.Name) {
	t.Helper()
	var err error
	for range 1200 {
		if err = e.outside.Decide(t.Context(), name, true); err == nil {
			return
		}
		e.clock.advance(10 * time.Second)
		e.advanceJobs(t)
		time.Sleep(50 * time.Millisecond) // sessions are opened again by the clock of the machine
	}
	t.Fatalf("the transfer of %s was never requested: %v", name, err)
}

// A registry that goes down for an hour in the middle of an order refunds nobody: the
// job is processing and says why, and is delivered once when the registry is back.
func TestEPPOrdersWaitForAnHour(t *testing.T) {
	for _, kind := range []epptest.Kind{epptest.CutBefore, epptest.CutInside, epptest.CutAfter} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // most of it waits for sessions
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { testOrdersWait(t, openEPPEnv(t, db), kind) })
		})
	}
}

func testOrdersWait(t *testing.T, e eppEnv, kind epptest.Kind) {
	owner := e.bought(t, "older.com")
	wallet := common.HexToAddress(string(owner.wallet))
	had, was := e.balance(t, wallet), e.domain(t, "older.com").ExpiresAt
	code, err := e.outside.Elsewhere(t.Context(), "moved.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, path, body string
		amount              deed.USDC
	}{
		{"create", "/domains/register", `{"domain":"first.com"}`, comPrice},
		{"renew", "/domains/renew", `{"domain":"older.com","years":1}`, comRenewal},
		{"transfer request", "/domains/transfer", `{"domain":"moved.com","authCode":"` + code.Reveal() + `"}`, e.transferPrice(t)},
	} {
		e.server.Break(epptest.Fault{Kind: kind, Times: 1, Only: []string{c.command}, Down: true})
		got := e.do(t, "POST", c.path, c.body, "PAYMENT-SIGNATURE", e.promise(owner, c.amount).header(t))
		got.expect(t, 202, "")
		var pending api.PendingOrder
		if err := json.Unmarshal([]byte(got.body), &pending); err != nil {
			t.Fatal(err)
		}
		id := pending.JobID
		e.downForAnHour(t)
		if j := job(t, e.service, id); j.Status != "processing" || !strings.Contains(j.Message, "does not answer") {
			t.Errorf("%s is %s: %q", j.Type, j.Status, j.Message)
		}
		if c.command == "transfer request" {
			e.approve(t, "moved.com")
		}
		e.runWorker(t)
		if j := job(t, e.service, id); j.Status != "completed" || j.Message != "" {
			t.Errorf("%s is %s: %q", j.Type, j.Status, j.Message)
		}
		had -= c.amount
	}
	if got := e.balance(t, wallet); got != had {
		t.Errorf("the buyer has %s, want %s", got, had)
	}
	e.holds(t, "first.com")
	e.holds(t, "moved.com")
	if got := e.domain(t, "older.com").ExpiresAt; !got.Equal(was.AddDate(1, 0, 0)) {
		t.Errorf("renewed until %s, was %s", got, was)
	}
	if kinds, repeated := e.server.Commands(); repeated > 0 {
		t.Errorf("%d identifiers were used twice in %v", repeated, kinds)
	}
	e.runLifecycle(t)
	e.audit(t)
}

// When the account at the registry is empty, orders are refused before money moves; one
// that was paid for goes back, or is delivered when the account is filled up in time.
func TestEPPFloatRunsOut(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		e.server.SetBalance(15_000_000) // for one year
		e.bought(t, "first.com")
		readBalances := func() {
			if err := e.app.ReadBalances(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		readBalances()
		owner := e.buyer(t)
		had := e.balance(t, e.payTo)
		e.register(t, "second.com", e.promise(owner, comPrice).header(t)).expect(t, 503, deed.CodeUnavailable)
		if got := e.balance(t, e.payTo); got != had {
			t.Errorf("%s were charged", got-had)
		}

		e.clock.advance(11 * time.Minute) // what the registry said is too old
		readBalances()
		e.register(t, "second.com", e.promise(owner, comPrice).header(t)).expect(t, 202, "")
		readBalances()
		e.register(t, "third.com", e.promise(e.buyer(t), comPrice).header(t)).expect(t, 503, deed.CodeUnavailable)
		e.runWorker(t)
		e.get(t, "/domains/second.com").expect(t, 404, deed.CodeNotFound)
		if got := e.balance(t, common.HexToAddress(string(owner.wallet))); got != 1_000_000_000 {
			t.Errorf("the buyer has %s after the refund", got)
		}

		e.clock.advance(11 * time.Minute)
		readBalances()
		e.register(t, "third.com", e.promise(owner, comPrice).header(t)).expect(t, 202, "")
		e.server.SetBalance(1_000_000_000)
		e.runWorker(t)
		e.get(t, "/domains/third.com").expect(t, 200, "")
		readBalances()
		e.bought(t, "fourth.com")
		e.runLifecycle(t)
		e.audit(t)
	})
}

// Two nodes sell over EPP while replies are lost: every buyer pays once for one name,
// and the registry sells each name once.
func TestTwoNodesSellOverEPP(t *testing.T) {
	e := openEPPEnv(t, sqldbtest.Postgres(t))
	nodes := []*env{e.env, e.secondNode(t)}
	const buyers = 12
	one := e.promise(e.buyer(t), comPrice).header(t)
	var turn atomic.Int64
	node := func() *env { return nodes[turn.Add(1)%2] }
	e.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: 1, Only: []string{"create"}})
	if count := race(20, func() int { return node().register(t, "first.com", one).status }); count[201]+count[202] != 20 {
		t.Errorf("one payment: got %v", count)
	}
	headers := make(chan string, buyers)
	for range buyers {
		headers <- e.promise(e.buyer(t), comPrice).header(t)
	}
	var name atomic.Int64
	e.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: buyers / 2, Only: []string{"create"}})
	if count := race(buyers, func() int { return node().register(t, fmt.Sprintf("name%d.com", name.Add(1)), <-headers).status }); count[201]+count[202] != buyers {
		t.Errorf("many payments: got %v", count)
	}
	e.server.Break(epptest.Fault{})
	for i := 0; e.open(t) > 0 && i < 500; i++ {
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() { n.advanceJobs(t) })
		}
		wg.Wait()
		e.clock.advance(time.Second)
	}
	e.runWorker(t)
	for i := range buyers {
		e.holds(t, deed.Name(fmt.Sprintf("name%d.com", i+1)))
	}
	if got, want := e.balance(t, e.payTo)-1_000_000_000_000, (buyers+1)*comPrice; got != deed.USDC(want) {
		t.Errorf("got %s, want %s", got, deed.USDC(want))
	}
	e.audit(t)
}
