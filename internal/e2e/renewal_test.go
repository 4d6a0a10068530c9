package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
)

func (s *env) renew(t *testing.T, domain string, years int, payment string) answer {
	t.Helper()
	return s.paid(t, "/domains/renew", fmt.Sprintf(`{"domain":%q,"years":%d}`, domain, years), payment)
}

// paid posts a body, with the payment if it is not "".
// Any wallet may pay for a renewal; the owner does not change.
func TestRenew(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		was := s.domain(t, "first.com")
		s.renew(t, "first.com", 2, "").expect(t, 402, deed.CodePaymentRequired)
		header := s.promise(s.buyer(t), 2*comRenewal).header(t)
		got := s.renew(t, "first.com", 2, header)
		r := read[api.Registration](t, got)
		if got.status != 200 || !r.PreviousExpiresAt.Equal(was.ExpiresAt) || !r.NewExpiresAt.Equal(was.ExpiresAt.AddDate(2, 0, 0)) || !r.ExpiresAt.Equal(r.NewExpiresAt) || r.Years != 2 {
			t.Errorf("got %d %s", got.status, got.body)
		}
		for range 3 {
			if again := s.renew(t, "first.com", 2, header); again.status != 200 || again.body != got.body {
				t.Errorf("again: got %d %s", again.status, again.body)
			}
		}
		if d := s.domain(t, "first.com"); d.WalletAddress != string(owner.wallet) || !d.ExpiresAt.Equal(r.NewExpiresAt) || !has(d.Events, "renewed") {
			t.Errorf("got %+v", d)
		}
		if j := job(t, s.service, r.JobID); j.Type != "domain_renewal" || j.Result == nil || !j.Result.NewExpiresAt.Equal(r.NewExpiresAt) {
			t.Errorf("got %+v", j)
		}
		s.audit(t)
	})
}

func TestRenewRefusals(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		for _, c := range []struct {
			body   string
			status int
			code   deed.Code
			word   string
		}{
			{`{"domain":"unknown.com"}`, 404, deed.CodeNotFound, "not registered here"},
			{`{"domain":"first.com","years":10}`, 400, deed.CodeValidation, "ten years ahead"},
			{`{"domain":"first.com","years":11}`, 400, deed.CodeValidation, "1 to 10"},
			{`{"domain":"first.com","expectedExpiresAt":"2020-01-01T00:00:00Z"}`, 400, deed.CodeValidation, "expires at"},
			{`{"domain":"first.com","maxPriceUsd":"1.00"}`, 400, deed.CodeValidation, "which is more"},
			{`{"domain":"co.uk"}`, 400, deed.CodeValidation, "public suffix"},
		} {
			got := s.paid(t, "/domains/renew", c.body, s.promise(s.buyer(t), comRenewal).header(t))
			got.expect(t, c.status, c.code)
			if !strings.Contains(got.body, c.word) {
				t.Errorf("%s: got %s, want %q in it", c.body, got.body, c.word)
			}
		}
		if q := read[api.Quote](t, s.paid(t, "/domains/renew", `{"domain":"first.com","years":3,"dryRun":true}`, "")); q.Price != "39.18" || q.Years != 3 {
			t.Errorf("got %+v", q)
		}
		s.paid(t, "/domains/renew", "", "").expect(t, 402, deed.CodePaymentRequired)
		s.faults.Set(local.FaultDown, 0)
		s.renew(t, "first.com", 1, s.promise(s.buyer(t), comRenewal).header(t)).expect(t, 503, deed.CodeUnavailable)
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice || s.open(t) != 0 {
			t.Error("something moved")
		}
	})
}

// raceRenewals renews first.com at the same time for so many wallets, and counts the
// statuses of the responses.
func (s *env) raceRenewals(t *testing.T, wallets int) map[int]int {
	t.Helper()
	headers := make(chan string, wallets)
	for range wallets {
		headers <- s.promise(s.buyer(t), comRenewal).header(t)
	}
	return race(wallets, func() int { return s.renew(t, "first.com", 1, <-headers).status })
}

// Concurrent renewals of one name: each paid year is added, or refunded.
func TestRenewalsRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		was := s.domain(t, "first.com").ExpiresAt
		count := s.raceRenewals(t, 16)
		s.runWorker(t)
		s.runLifecycle(t)
		years := s.domain(t, "first.com").ExpiresAt.Year() - was.Year()
		if paid := s.balance(t, s.payTo) - 1_000_000_000_000 - comPrice; years != 9 || count[200] > 9 {
			t.Errorf("got %v: %d years, and %s came in", count, years, paid)
		}
		s.audit(t)
	})
}

// Concurrent renewals within the maximum term: each starts where the previous one
// ended, and no paid order is rejected. While the database and the registry
// differ, the response says to retry.
func TestRenewalsRacedWithinMaximum(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		was := s.domain(t, "first.com").ExpiresAt
		count := s.raceRenewals(t, 9)
		s.runWorker(t)
		years := s.domain(t, "first.com").ExpiresAt.Year() - was.Year()
		if paid := s.balance(t, s.payTo) - 1_000_000_000_000 - comPrice; count[200]+count[202]+count[503] != 9 || years+count[503] != 9 || paid != deed.USDC(years)*comRenewal {
			t.Errorf("got %v: %d years, and %s came in", count, years, paid)
		}
		s.audit(t)
	})
}

// One payment in a hundred concurrent renewals makes one renewal.
func TestOneRenewalRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		was := s.domain(t, "first.com").ExpiresAt
		header := s.promise(s.buyer(t), comRenewal).header(t)
		if count := race(100, func() int { return s.renew(t, "first.com", 1, header).status }); count[200]+count[202] != 100 {
			t.Errorf("got %v", count)
		}
		s.runWorker(t)
		if d := s.domain(t, "first.com"); !d.ExpiresAt.Equal(was.AddDate(1, 0, 0)) || s.balance(t, s.payTo) != 1_000_000_000_000+comPrice+comRenewal {
			t.Errorf("got %s", d.ExpiresAt)
		}
		s.audit(t)
	})
}

// The chain may confirm a payment long after its request. The renewal is made then, and the
// buyer waits as long for the registry as any other.
func TestRenewalIsPaidLate(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		was, header := s.domain(t, "first.com").ExpiresAt, s.promise(s.buyer(t), comRenewal).header(t)
		s.chain.Pause()
		s.waits(50 * time.Millisecond)
		for s.renew(t, "first.com", 1, header).status != 202 {
			s.waits(s.api.Payments.Wait * 2)
		}
		s.clock.advance(order.JobDeadline + time.Minute)
		s.chain.Resume()
		s.waits(time.Minute)
		s.runWorker(t)
		if got := s.renew(t, "first.com", 1, header); got.status != 200 || !s.domain(t, "first.com").ExpiresAt.Equal(was.AddDate(1, 0, 0)) {
			t.Errorf("got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// Whatever the registry does, a renewal ends with the year or with a refund.
func TestRenewalFaults(t *testing.T) {
	for fault, delivered := range map[local.Fault]bool{
		local.FaultRefuse: false, local.FaultParked: false, local.FaultLostReply: true, local.FaultLate: true, local.FaultSlow: true,
	} {
		t.Run(string(fault), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				s.bought(t, "first.com")
				was, a := s.domain(t, "first.com").ExpiresAt, s.buyer(t)
				before := s.balance(t, common.HexToAddress(string(a.wallet)))
				s.faults.Set(fault, 1)
				header := s.promise(a, comRenewal).header(t)
				first := s.renew(t, "first.com", 1, header)
				s.faults.Set(local.FaultNone, 0)
				s.runWorker(t)
				s.runLifecycle(t)
				last := s.renew(t, "first.com", 1, header)
				paid, longer := before-s.balance(t, common.HexToAddress(string(a.wallet))), s.domain(t, "first.com").ExpiresAt.After(was)
				if longer != delivered || delivered && (last.status != 200 || paid != comRenewal) || !delivered && (last.status != 500 || paid != 0) {
					t.Errorf("got %d, then %d %s; longer %v, paid %s", first.status, last.status, last.body, longer, paid)
				}
				s.audit(t)
			})
		})
	}
}

// transferPrice returns the transfer price of a .com.
