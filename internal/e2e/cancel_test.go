package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// cancelFee is what the registry keeps of a cancelled registration.
const cancelFee = 20 * deed.Cent

// cancel cancels a name.
func (s *env) cancel(t *testing.T, domain, token, body string) answer {
	t.Helper()
	return s.do(t, "POST", "/domains/"+domain+"/cancel", body, "Authorization", token)
}

// cancelled fails the test unless the name is gone and its price, less the fee, is back.
func (s *env) cancelled(t *testing.T, domain string, owner *account) {
	t.Helper()
	s.runWorker(t)
	s.get(t, "/domains/"+domain).expect(t, 404, deed.CodeNotFound)
	if got, want := s.balance(t, common.HexToAddress(string(owner.wallet))), 1_000_000_000-cancelFee; got != want {
		t.Errorf("the payer has %s, want %s", got, want)
	}
	s.audit(t)
}

// A registration can be cancelled in its add grace period: a dry run shows what goes
// back, the name is deleted at the registry and free again, the price less the fee goes
// back once, however often the call is repeated, and the wallet is told.
func TestCancel(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		want := api.Cancellation{Domain: "first.com", Status: "possible", Price: "13.06", Kept: "0.20", RefundAmount: "12.86", WalletAddress: string(owner.wallet)}
		if got := read[api.Cancellation](t, s.cancel(t, "first.com", token, `{"dryRun":true}`)); got != want {
			t.Errorf("dry run: got %+v", got)
		}
		if s.domain(t, "first.com").Status != "active" {
			t.Error("the dry run changed the name")
		}
		for range 3 {
			got := s.cancel(t, "first.com", token, `{}`)
			c := read[api.Cancellation](t, got)
			if got.status != 200 || c.Status != "cancelled" || c.RefundAmount != "12.86" || c.Refund == nil || c.Refund.Amount != "12.86" || !strings.Contains(c.Refund.Reason, "cancelled") {
				t.Errorf("got %d %s", got.status, got.body)
			}
		}
		if _, err := s.registry.Holding(t.Context(), "first.com"); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("the registry: got %v", err)
		}
		s.cancelled(t, "first.com", owner)
		list := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", token)).Transactions
		if len(list) != 2 || !slices.ContainsFunc(list, func(x api.Transaction) bool { return x.Type == "refund" && x.Price == "12.86" && x.Reason != "" }) ||
			!slices.ContainsFunc(list, func(x api.Transaction) bool { return x.Type == "registration" && x.Status == "settled" }) {
			t.Errorf("got %+v", list)
		}
		var types []string
		for _, e := range s.events(t, owner, "").Events {
			types = append(types, e.Type)
		}
		if !slices.Contains(types, "domain.cancelled") || !slices.Contains(types, "refund.sent") {
			t.Errorf("got %v", types)
		}
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 201, "")
		s.cancel(t, "first.com", token, `{}`).expect(t, 403, deed.CodeOwnershipDenied)
		s.audit(t)
	})
}

// A new cancellation is not due for the worker at once: its request answers the outcome,
// and a worker that was faster would leave it nothing to say.
func TestCancelIsLeftToItsRequest(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		stored := false
		s.api.Registrations.Step = func(name string) {
			if name != "job: cancellation stored" {
				return
			}
			stored = true
			if due, err := s.api.Registrations.Cancels.DueCancellations(t.Context(), 10); err != nil || len(due) > 0 {
				t.Errorf("due: got %v, %v", due, err)
			}
		}
		s.cancel(t, "first.com", token, `{}`).expect(t, 200, "")
		if !stored {
			t.Error("no cancellation was stored")
		}
	})
}

// What cannot be cancelled is refused before anything is changed.
func TestCancelRefusals(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		refused := func(domain, token string, code deed.Code, word string) {
			t.Helper()
			status := map[deed.Code]int{deed.CodeValidation: 400, deed.CodeOwnershipDenied: 403, deed.CodeNotFound: 404, deed.CodeUnavailable: 503}[code]
			for _, body := range []string{`{"dryRun":true}`, `{}`} {
				got := s.cancel(t, domain, token, body)
				got.expect(t, status, code)
				if !strings.Contains(got.body, word) {
					t.Errorf("%s: got %s, want %q in it", domain, got.body, word)
				}
			}
		}
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		refused("unknown.com", token, deed.CodeNotFound, "not registered")
		refused("first.com", s.bearer(t, s.buyer(t)), deed.CodeOwnershipDenied, "another wallet")
		s.cancel(t, "first.com", token, `{"force":true}`).expect(t, 400, deed.CodeValidation)
		s.cancel(t, "first.com", token, ` null `).expectDetail(t, "null, which is no object", "body")
		s.do(t, "POST", "/domains/first.com/cancel", `{}`).expect(t, 401, deed.CodeAuthRequired)

		s.faults.Set(local.FaultDown, 0)
		refused("first.com", token, deed.CodeUnavailable, "registry")
		s.faults.Set(local.FaultNone, 0)

		renewed := s.bearer(t, s.bought(t, "renewed.com"))
		s.renew(t, "renewed.com", 1, s.promise(s.buyer(t), comRenewal).header(t)).expect(t, 200, "")
		refused("renewed.com", renewed, deed.CodeValidation, "renewed")

		giver, heir := s.bearer(t, s.bought(t, "given.com")), newAccount(t)
		s.do(t, "PUT", "/domains/given.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet), "Authorization", giver).expect(t, 200, "")
		refused("given.com", giver, deed.CodeOwnershipDenied, "another wallet")
		refused("given.com", s.bearer(t, heir), deed.CodeValidation, "handed over")

		rich := s.buyer(t)
		s.register(t, "ab.io", s.promise(rich, 300_500_000).header(t)).expect(t, 201, "")
		refused("ab.io", s.bearer(t, rich), deed.CodeValidation, "premium")

		code, err := s.registry.Elsewhere(t.Context(), "moved.com")
		if err != nil {
			t.Fatal(err)
		}
		mover := s.buyer(t)
		s.transfer(t, "moved.com", code.Reveal(), s.promise(mover, s.transferPrice(t)).header(t)).expect(t, 202, "")
		if err := s.registry.Decide(t.Context(), "moved.com", true); err != nil {
			t.Fatal(err)
		}
		s.runWorker(t)
		refused("moved.com", s.bearer(t, mover), deed.CodeValidation, "transfer")

		s.pass(t, 5*day)
		refused("first.com", s.bearer(t, owner), deed.CodeValidation, "are over")
		s.runWorker(t)
		s.audit(t)
	})
}

// A wallet can cancel three registrations in 30 days, and a TLD has an allowance for
// each month, which grows with the registrations that remain; what the registry refuses
// does not count.
func TestCancelLimits(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := openEnv(t, options{db: db, config: func(c *app.Config) {
			c.Registrars = []app.RegistrarConfig{{Name: "local", Type: "local", TLDs: []string{"*"}, Values: map[string]string{"cancel_monthly": "4", "cancel_percent": "100"}}}
		}})
		owner := s.buyer(t)
		token := s.bearer(t, owner)
		buy := func(domain string) {
			t.Helper()
			s.register(t, domain, s.promise(owner, comPrice).header(t)).expect(t, 201, "")
		}
		buy("refused.com")
		s.faults.Set(local.FaultRefuse, 1)
		s.cancel(t, "refused.com", token, `{}`).expect(t, 400, deed.CodeValidation)
		if d := s.domain(t, "refused.com"); d.Status != "active" {
			t.Errorf("got %+v", d)
		}
		for i := range 3 {
			domain := fmt.Sprintf("name%d.com", i)
			buy(domain)
			s.cancel(t, domain, token, `{}`).expect(t, 200, "")
		}
		got := s.cancel(t, "refused.com", token, `{}`)
		got.expect(t, 429, deed.CodeRateLimited)
		if !strings.Contains(got.body, "3 registrations in 30 days") {
			t.Errorf("got %s", got.body)
		}
		first, second := s.bought(t, "other0.com"), s.bought(t, "other1.com")
		s.cancel(t, "other0.com", s.bearer(t, first), `{}`).expect(t, 200, "")
		for remaining := 1; remaining < 5; remaining++ { // beside other1.com; it would be the fifth that is cancelled
			s.cancel(t, "other1.com", s.bearer(t, second), `{}`).expect(t, 429, deed.CodeRateLimited)
			buy(fmt.Sprintf("kept%d.com", remaining))
		}
		s.cancel(t, "other1.com", s.bearer(t, second), `{}`).expect(t, 200, "")
		s.runWorker(t)
		s.audit(t)
	})
}

// Whatever the registry does with a deletion and its answer, the outcome is one of two:
// the name is kept and nothing refunded, or it is deleted and refunded once. The name
// cannot be bought again while a deletion without an answer may still be executed.
func TestCancelFaults(t *testing.T) {
	for fault, gone := range map[local.Fault]bool{local.FaultLostReply: true, local.FaultLate: true, local.FaultParked: true, local.FaultSlow: true} {
		t.Run(string(fault), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				owner := s.bought(t, "first.com")
				token := s.bearer(t, owner)
				if fault != local.FaultSlow {
					s.faults.Set(fault, 1)
					for range 2 {
						if got := s.cancel(t, "first.com", token, `{}`); got.status != 202 || !strings.Contains(got.body, `"status":"cancelling"`) {
							t.Fatalf("got %d %s", got.status, got.body)
						}
					}
					s.renew(t, "first.com", 1, s.promise(s.buyer(t), comRenewal).header(t)).expect(t, 400, deed.CodeValidation)
					s.do(t, "PUT", "/domains/first.com/lock", `{"locked":true}`, "Authorization", token).expect(t, 400, deed.CodeValidation)
					s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
					s.audit(t)
				} else {
					s.faults.Set(fault, 2)
					s.cancel(t, "first.com", token, `{}`).expect(t, 200, "")
				}
				s.faults.Set(local.FaultNone, 0)
				if gone {
					s.cancelled(t, "first.com", owner)
				}
			})
		})
	}
}

// A process that dies between any two steps of a cancellation leaves it to the next,
// with the same outcome.
func TestCancelCrashes(t *testing.T) {
	for _, step := range []string{"job: cancellation stored", "job: about to delete", "job: deleted", "payment: refund_due", "payment: refunding", "payment: money returned"} {
		t.Run(step, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				owner := s.bought(t, "first.com")
				token := s.bearer(t, owner)
				crashed := false
				crash := func(name string) {
					if name == step && !crashed {
						crashed = true
						panic("the process dies")
					}
				}
				s.api.Registrations.Step, s.api.Payments.Step = crash, crash
				s.cancel(t, "first.com", token, `{}`)
				for range 3 {
					s.workAndDie(t)
				}
				if !crashed {
					t.Fatal("the step was never reached")
				}
				s.cancelled(t, "first.com", owner)
			})
		})
	}
}

// workAndDie runs the worker until a step panics, or nothing is open.
func (s *env) workAndDie(t *testing.T) {
	defer func() { _ = recover() }() // the next worker continues
	s.runWorker(t)
}

// Of a cancellation, renewals by others and a hand-over at once, the outcome is
// consistent: a cancelled name was neither renewed nor handed over, a kept one was not
// refunded, and nobody pays for nothing.
func TestCancelRaces(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for round := range 6 {
			domain := fmt.Sprintf("race%d.com", round)
			owner, heir := s.bought(t, domain), newAccount(t)
			token := s.bearer(t, owner)
			renewal := s.promise(s.buyer(t), comRenewal).header(t)
			calls := []func(){
				func() { s.cancel(t, domain, token, `{}`) },
				func() { s.cancel(t, domain, token, `{}`) },
				func() { s.renew(t, domain, 1, renewal) },
				func() {
					s.do(t, "PUT", "/domains/"+domain+"/owner", fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet), "Authorization", token)
				},
			}
			var wg sync.WaitGroup
			for i := range calls {
				wg.Go(calls[(i+round)%len(calls)])
			}
			wg.Wait()
			s.runWorker(t)
			s.runLifecycle(t)
			r, err := sqldb.Registrations{DB: s.db}.Registration(t.Context(), deed.Name(domain))
			back := s.balance(t, common.HexToAddress(string(owner.wallet))) == 1_000_000_000-cancelFee
			kept := err == nil && (r.Owner == owner.wallet || r.Owner == heir.wallet) && r.Status == lifecycle.StatusActive && !r.Cancelling
			if kept == back {
				t.Errorf("%s: got %+v, %v, refunded %t", domain, r, err, back)
			}
			s.audit(t)
		}
	})
}

// Over EPP and at a wholesaler a registration is cancelled like at the embedded
// registry, also when the reply to the deletion is lost.
func TestCancelElsewhere(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		for i, fault := range []epptest.Fault{{}, {Kind: epptest.CutAfter, Times: 1, Only: []string{"delete"}}, {Kind: epptest.CutBefore, Times: 1, Only: []string{"delete"}}} {
			name := deed.Name(fmt.Sprintf("first%d.com", i))
			owner := e.bought(t, string(name))
			e.holds(t, name)
			if fault.Times > 0 {
				e.server.Break(fault)
			}
			e.cancel(t, string(name), e.bearer(t, owner), `{}`)
			e.cancelled(t, string(name), owner)
			if _, err := e.outside.Holding(t.Context(), name); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("the registry: got %v", err)
			}
		}
	})
}
