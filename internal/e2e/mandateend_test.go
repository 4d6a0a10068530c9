package e2e_test

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
)

// The mandates of a name end with a hand-over, when the name leaves, and when the owner
// says so; each says what can be done on the chain.
func TestMandatesEnd(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, heir := s.bought(t, "first.com"), s.buyer(t)
		s.mandate(t, a, "first.com", 3)
		token := s.bearer(t, a)
		id := s.mandates(t, a, "first.com")[1].ID
		one := read[api.Mandates](t, s.do(t, "DELETE", "/account/mandates/first.com?id="+id, "", "Authorization", token))
		if len(one.Mandates) != 1 || one.Mandates[0].ID != id || !one.AutoRenew || one.Mandates[0].Cancel == nil || one.Mandates[0].Cancel.Nonce != one.Mandates[0].Nonce || one.Message == "" {
			t.Errorf("got %+v", one)
		}
		s.do(t, "DELETE", "/account/mandates/first.com?id="+id, "", "Authorization", token).expect(t, 404, deed.CodeNotFound)
		s.do(t, "DELETE", "/account/mandates/first.com", "", "Authorization", s.bearer(t, heir)).expect(t, 403, deed.CodeOwnershipDenied)
		s.handOver(t, token, heir).expect(t, 200, "")
		s.wantMandates(t, a, "first.com", order.MandateRevoked, order.MandateRevoked, order.MandateRevoked)
		if d := s.domain(t, "first.com"); d.AutoRenew {
			t.Errorf("got %+v", d)
		}
		s.get(t, "/account/mandates/first.com", "Authorization", s.bearer(t, s.buyer(t))).expect(t, 403, deed.CodeOwnershipDenied)
		s.mandate(t, heir, "first.com", 2)
		if all := read[api.Mandates](t, s.do(t, "DELETE", "/account/mandates/first.com", "", "Authorization", s.bearer(t, heir))); len(all.Mandates) != 2 || all.AutoRenew {
			t.Errorf("got %+v", all)
		}
		s.mandate(t, heir, "first.com", 1)
		s.passAll(t, 61*day)
		code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", s.bearer(t, heir)))
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err != nil {
			t.Fatal(err)
		}
		s.passAll(t, day)
		s.passAll(t, 6*day)
		s.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		s.wantMandates(t, heir, "first.com", order.MandateRevoked, order.MandateRevoked, order.MandateRevoked)
		s.wantTold(t, a, event.MandateRevoked, event.MandateRevoked, event.MandateRevoked)
		s.wantTold(t, heir, event.MandateRevoked, event.MandateRevoked, event.MandateRevoked)
		s.passAll(t, 330*day)
		s.runWorker(t)
		s.audit(t)
	})
}

// dearer is a price list with other prices of renewals.
type dearer struct {
	registration.Prices
	price deed.USDC
}

func (d *dearer) Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error) {
	q, err := d.Prices.Renewal(r, years, restore)
	q.Amount = d.price
	return q, err
}

// The owner is told sixty days before that the cap is too low. The mandate waits for a
// lower price, and fails when its time is over.
func TestMandateCapTooLow(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		prices := &dearer{s.api.Registrations.Prices, comRenewal}
		s.api.Registrations.Prices, s.api.Mandates.Prices = prices, prices
		a, b := s.bought(t, "first.com"), s.bought(t, "second.com")
		s.mandate(t, a, "first.com", 1)
		s.mandate(t, b, "second.com", 1)
		prices.price = comCap + 1
		s.passAll(t, 304*day)
		s.wantTold(t, a)
		s.passAll(t, 2*day)
		told := s.wantTold(t, a, event.MandateAtRisk)
		if !strings.Contains(told[0].Data.Reason, prices.price.String()) || s.mandates(t, a, "first.com")[0].Reason == "" {
			t.Errorf("got %+v", told[0].Data)
		}
		for range 4 {
			s.passAll(t, 10*day)
		}
		s.wantMandates(t, a, "first.com", order.MandateActive)
		prices.price = comCap // exactly the cap: nothing goes back
		s.passAll(t, day)
		s.runWorker(t)
		s.wantMandates(t, a, "first.com", order.MandateUsed)
		s.wantTold(t, a, event.MandateAtRisk, event.MandateDue, event.MandateUsed)
		if job := s.renewalJob(t, a); job.Refund != nil || job.Result.Price != comCap.String() {
			t.Errorf("got %+v", job)
		}
		s.wantMandates(t, b, "second.com", order.MandateUsed)
		s.audit(t)
	})
}

// A wallet that cannot pay is told of fourteen days before the expiry, once. When it has
// the money, the name is renewed; one that never has it fails.
func TestMandateOfAnEmptyWallet(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		poor := func(name string) *account {
			a := newAccount(t)
			if _, _, err := s.chain.Faucet(t.Context(), string(a.wallet), int64(comPrice)); err != nil {
				t.Fatal(err)
			}
			s.register(t, name, s.promise(a, comPrice).header(t)).expect(t, 201, "")
			s.mandate(t, a, name, 1)
			return a
		}
		a, b := poor("first.com"), poor("second.com")
		for range 350 / 10 {
			s.passAll(t, 10*day)
		}
		s.wantTold(t, a)
		s.passAll(t, 2*day)
		s.wantTold(t, a, event.MandateAtRisk)
		s.passAll(t, 2*day)
		s.wantTold(t, a, event.MandateAtRisk)
		if _, _, err := s.chain.Faucet(t.Context(), string(a.wallet), int64(comCap)); err != nil {
			t.Fatal(err)
		}
		s.passAll(t, day)
		s.runWorker(t)
		s.wantTold(t, a, event.MandateAtRisk, event.MandateDue, event.MandateUsed)
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != comCap-comRenewal {
			t.Errorf("it has %s left", got)
		}
		for range 5 {
			s.passAll(t, 10*day)
		}
		s.wantTold(t, b, event.MandateAtRisk, event.MandateFailed)
		s.audit(t)
	})
}

// A mandate that was cancelled on the chain fails, long before it is due, and its owner
// is told.
func TestMandateCancelledOnChain(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.bought(t, "first.com")
		signed := s.mandate(t, a, "first.com", 2)
		s.passAll(t, day)
		if _, _, err := s.chain.SendFromFaucet(t.Context(), devchain.USDC, signed[1].cancelCall()); err != nil {
			t.Fatal(err)
		}
		s.passAll(t, 31*day)
		s.wantMandates(t, a, "first.com", order.MandateActive, order.MandateFailed)
		s.wantTold(t, a, event.MandateFailed)
		s.passAll(t, 301*day)
		if _, _, err := s.chain.SendFromFaucet(t.Context(), devchain.USDC, signed[0].cancelCall()); err != nil {
			t.Fatal(err)
		}
		s.passAll(t, 5*day)
		s.wantMandates(t, a, "first.com", order.MandateFailed, order.MandateFailed)
		if s.domain(t, "first.com").AutoRenew {
			t.Error("it renews itself")
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// A renewal by mandate that the registry refuses is refunded as a whole, and the owner
// is told.
func TestMandateRefused(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.bought(t, "first.com")
		before := s.balance(t, common.HexToAddress(string(a.wallet)))
		s.mandate(t, a, "first.com", 1)
		s.faults.Set(local.FaultRefuse, 1)
		s.passAll(t, 336*day)
		s.runWorker(t)
		s.wantMandates(t, a, "first.com", order.MandateFailed)
		s.wantTold(t, a, event.MandateDue, event.MandateFailed)
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != before {
			t.Errorf("got %s, want %s", got, before)
		}
		s.audit(t)
	})
}
