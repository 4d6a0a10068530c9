package e2e_test

import (
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/api"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// Five years pass on the sandbox's calendar and on its chain. A name is renewed five
// times by mandates that its owner signed on the first day, and then does nothing: the
// owner is told of each, pays the price of each day, and the name never expires.
func TestFiveYearsOfMandates(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.bought(t, "first.com")
		before, expires := s.balance(t, common.HexToAddress(string(a.wallet))), s.domain(t, "first.com").ExpiresAt
		s.mandate(t, a, "first.com", 5)
		end := s.api.Sandbox.Registry.Now().AddDate(5, 0, 0)
		for s.api.Sandbox.Registry.Now().Before(end) {
			moved := read[api.Clock](t, s.do(t, "POST", "/sandbox/clock", `{"advance":"12d","chain":true}`))
			if lag := moved.Now.Sub(moved.ChainNow).Abs(); lag > time.Hour {
				t.Fatalf("the chain's clock differs by %s", lag)
			}
			s.runWorker(t)
			if d := s.domain(t, "first.com"); d.Status != "active" {
				t.Fatalf("at %s the name is %s", moved.Now, d.Status)
			}
		}
		if d := s.domain(t, "first.com"); !d.ExpiresAt.Equal(expires.AddDate(5, 0, 0)) || d.AutoRenew {
			t.Errorf("got %+v", d)
		}
		s.wantMandates(t, a, "first.com", order.MandateUsed, order.MandateUsed, order.MandateUsed, order.MandateUsed, order.MandateUsed)
		counts := map[event.Type]int{}
		for _, e := range s.events(t, a, "?limit=100").Events {
			counts[event.Type(e.Type)]++
		}
		for _, want := range []event.Type{event.MandateDue, event.MandateUsed, event.DomainRenewed, event.RefundSent} {
			if counts[want] != 5 {
				t.Errorf("told %d × %s, want 5", counts[want], want)
			}
		}
		if counts[event.DomainExpired] != 0 || counts[event.MandateFailed] != 0 || counts[event.MandateAtRisk] != 0 {
			t.Errorf("told %v", counts)
		}
		if got := s.balance(t, common.HexToAddress(string(a.wallet))); got != before-5*comRenewal {
			t.Errorf("it cost %s, want %s", before-got, 5*comRenewal)
		}
		if box := read[api.Sandbox](t, s.get(t, "/sandbox")); box.Note == "" || box.ChainNow.Before(end.AddDate(0, 0, -1)) {
			t.Errorf("got %+v", box)
		}
		s.audit(t)
		for i := range 12 { // an audit may start at any time between the renewals
			s.auditSince(t, end.AddDate(0, -5*i, 0))
		}
	})
}
