package e2e_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/local"
)

const (
	comRenewal deed.USDC = 13_060_000
	day                  = 24 * time.Hour
)

// bought returns a wallet that has just bought the name.
func (s *env) bought(t *testing.T, domain string) *account {
	t.Helper()
	a := s.buyer(t)
	if got := s.register(t, domain, s.promise(a, comPrice).header(t)); got.status != 201 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	return a
}

// renew requests a renewal.
func (s *env) renew(t *testing.T, domain string, years int, payment string) answer {
	t.Helper()
	return s.paid(t, "/domains/renew", fmt.Sprintf(`{"domain":%q,"years":%d}`, domain, years), payment)
}

// paid posts a body, with the payment if it is not "".
func (s *env) paid(t *testing.T, path, body, payment string) answer {
	t.Helper()
	if payment == "" {
		return s.do(t, "POST", path, body)
	}
	return s.do(t, "POST", path, body, "PAYMENT-SIGNATURE", payment)
}

// pass advances the clock and runs the lifecycle job.
func (s *env) pass(t *testing.T, d time.Duration) {
	t.Helper()
	s.clock.advance(d)
	s.runLifecycle(t)
}

// runLifecycle advances every name that is due.
func (s *env) runLifecycle(t *testing.T) {
	t.Helper()
	names, err := s.lifecycle.Due(t.Context(), 1000)
	for _, n := range names {
		if err == nil {
			err = s.lifecycle.Advance(t.Context(), n)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) domain(t *testing.T, name string) api.Domain {
	t.Helper()
	return read[api.Domain](t, s.get(t, "/domains/"+name))
}

func (s *env) bearer(t *testing.T, a *account) string { return "Bearer " + s.tokens(t, a).Access }

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

func has(events []api.DomainEvent, kind string) bool {
	for _, e := range events {
		if e.Type == kind {
			return true
		}
	}
	return false
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

// An expired name can be renewed in grace, restored in redemption, and is deleted
// after that. The owner gets warnings.
func TestNameLifecycle(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := func() string { return s.bearer(t, owner) }
		at := func(offset time.Duration) api.Domain {
			s.pass(t, s.domain(t, "first.com").ExpiresAt.Add(offset).Sub(s.clock.Now()))
			return s.domain(t, "first.com")
		}
		if d := at(-31 * day); d.Status != "active" || has(d.Events, "expires_in_30_days") {
			t.Errorf("31 days before: got %+v", d)
		}
		if d := at(-6 * day); !has(d.Events, "expires_in_30_days") || !has(d.Events, "expires_in_7_days") || has(d.Events, "expires_in_1_day") {
			t.Errorf("6 days before: got %+v", d)
		}
		d := at(4 * day)
		if d.Status != "expired" || d.Grace == nil || d.Grace.Phase != "grace" || d.Grace.Price != "13.06" || !has(d.Events, "expired_3_days_ago") || len(d.Warnings) == 0 {
			t.Errorf("in grace: got %+v", d)
		}
		if acc := read[api.AccountDomains](t, s.get(t, "/account/domains?status=expired", "Authorization", token())); acc.Total != 1 || !has(acc.Domains[0].Events, "expired") {
			t.Errorf("got %+v", acc)
		}
		if got := s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)); got.status != 200 {
			t.Errorf("in grace: got %d %s", got.status, got.body)
		}
		if d := s.domain(t, "first.com"); d.Status != "active" || d.Grace != nil {
			t.Errorf("renewed: got %+v", d)
		}
		d = at(50 * day)
		restore := mustUSDC(t, d.Grace.Price)
		if d.Status != "redemption" || d.Grace.Phase != "redemption" || restore <= comRenewal {
			t.Errorf("in redemption: got %+v", d)
		}
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 402, deed.CodePaymentInvalid)
		if got := s.renew(t, "first.com", 1, s.promise(owner, restore).header(t)); got.status != 200 {
			t.Errorf("in redemption: got %d %s", got.status, got.body)
		}
		d = at(time.Duration(s.api.Catalog.GraceDays("com")+lifecycle.RedemptionDays+3) * day)
		if d.Status != "pending_delete" || d.Grace.Price != "" {
			t.Errorf("pending delete: got %+v", d)
		}
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 400, deed.CodeValidation)
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		s.pass(t, 5*day)
		s.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		next := s.bought(t, "first.com")
		if d := s.domain(t, "first.com"); d.WalletAddress != string(next.wallet) || d.Status != "active" || len(d.Events) != 1 {
			t.Errorf("sold again: got %+v", d)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", token()).expect(t, 403, deed.CodeOwnershipDenied)
		s.audit(t)
	})
}

func mustUSDC(t *testing.T, s string) deed.USDC {
	t.Helper()
	u, err := deed.ParseUSDC(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Concurrent renewals of one name: each paid year is added, or refunded.
func TestRenewalsRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		was := s.domain(t, "first.com").ExpiresAt
		headers := make(chan string, 16)
		for range cap(headers) {
			headers <- s.promise(s.buyer(t), comRenewal).header(t)
		}
		count := race(cap(headers), func() int { return s.renew(t, "first.com", 1, <-headers).status })
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
		headers := make(chan string, 9)
		for range cap(headers) {
			headers <- s.promise(s.buyer(t), comRenewal).header(t)
		}
		count := race(cap(headers), func() int { return s.renew(t, "first.com", 1, <-headers).status })
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
func (s *env) transferPrice(t *testing.T) deed.USDC {
	t.Helper()
	q, err := s.api.Catalog.Transfer("first.com")
	if err != nil {
		t.Fatal(err)
	}
	return q.Amount
}

func (s *env) transfer(t *testing.T, domain, code, payment string) answer {
	t.Helper()
	return s.paid(t, "/domains/transfer", fmt.Sprintf(`{"domain":%q,"authCode":%q}`, domain, code), payment)
}

func TestTransferIn(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		pay := func() string { return s.promise(a, s.transferPrice(t)).header(t) }
		s.transfer(t, "moving.com", "wrong", pay()).expect(t, 400, deed.CodeValidation)
		s.transfer(t, "nobodys.com", code.Reveal(), pay()).expect(t, 404, deed.CodeNotFound)
		s.transfer(t, "moving.com", code.Reveal(), "").expect(t, 402, deed.CodePaymentRequired)
		header := pay()
		got := s.transfer(t, "moving.com", code.Reveal(), header)
		if got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		if strings.Contains(got.body, code.Reveal()) {
			t.Error("the answer repeats the code")
		}
		s.get(t, "/domains/moving.com").expect(t, 404, deed.CodeNotFound)
		s.pass(t, 5*day+time.Minute)
		s.runWorker(t)
		if again := s.transfer(t, "moving.com", code.Reveal(), header); again.status != 201 {
			t.Errorf("got %d %s", again.status, again.body)
		}
		d := s.domain(t, "moving.com")
		if d.WalletAddress != string(a.wallet) || !has(d.Events, "transferred_in") || !d.Events[0].At.After(d.RegisteredAt.Add(5*day)) {
			t.Errorf("got %+v", d)
		}
		s.transfer(t, "moving.com", code.Reveal(), pay()).expect(t, 409, deed.CodeDomainUnavailable)
		s.audit(t)
	})
}

// A signed name that is transferred to us, and is to have our name servers, keeps its own and
// its DS until no cache has the DS any more: they do not have its key.
func TestTransferToOurServersWaitsForCaches(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		key := []dnssec.DS{{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
		body := fmt.Sprintf(`{"domain":"moving.com","authCode":%q,"nameservers":["ns1.deed.example","ns2.deed.example"]}`, code.Reveal())
		if got := s.paid(t, "/domains/transfer", body, s.promise(a, s.transferPrice(t)).header(t)); got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		s.pass(t, 5*day+time.Minute)
		if err := s.registry.SetNameservers(t.Context(), "moving.com", []string{"ns1.example.net", "ns2.example.net"}); err != nil {
			t.Fatal(err)
		}
		if err := s.registry.SetDS(t.Context(), "moving.com", key); err != nil {
			t.Fatal(err)
		}
		s.runWorker(t)
		m := &mover{env: s, t: t, token: s.bearer(t, a)}
		is := func(what, server, step string, ds int) {
			t.Helper()
			d, got := m.domain(t, "moving.com"), ""
			h, err := s.registry.Holding(t.Context(), "moving.com")
			if err != nil {
				t.Fatal(err)
			}
			if d.Delegation != nil {
				got = d.Delegation.State
			}
			if d.Nameservers[0] != server || got != step || len(d.DNSSEC.DS) != ds || h.Nameservers[0] != server || len(h.DS) != ds {
				t.Errorf("%s: got %v, step %q, %d DS; at the registry %v and %d DS; want %s, %q, %d", what, d.Nameservers, got, len(d.DNSSEC.DS), h.Nameservers, len(h.DS), server, step, ds)
			}
		}
		is("transferred", "ns1.example.net", "withdrawing", 1)
		m.moves(time.Minute)
		is("withdrawn", "ns1.example.net", "withdrawing", 0)
		m.moves(25 * time.Hour)
		is("moved", "ns1.deed.example", "settling", 0)
		m.moves(49 * time.Hour)
		is("settled", "ns1.deed.example", "", 0)
		s.audit(t)
	})
}

// The other registrar rejects the transfer, and the payment is refunded.
func TestTransferRejected(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		header := s.promise(a, s.transferPrice(t)).header(t)
		if got := s.transfer(t, "moving.com", code.Reveal(), header); got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		if err := s.registry.Decide(t.Context(), "moving.com", false); err != nil {
			t.Fatal(err)
		}
		s.runWorker(t)
		if got := s.transfer(t, "moving.com", code.Reveal(), header); got.status != 500 || !strings.Contains(got.body, "confirmed") {
			t.Errorf("got %d %s", got.status, got.body)
		}
		if s.balance(t, common.HexToAddress(string(a.wallet))) != 1_000_000_000 {
			t.Error("the money is not back")
		}
		s.audit(t)
	})
}

// The owner unlocks a name, another registrar starts a transfer, and after five
// days the name is transferred out.
func TestTransferOut(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		s.runLifecycle(t)
		if young := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token)); !says(young.Warnings, "our name servers stop") || !says(young.Warnings, "does not transfer the name yet") {
			t.Errorf("got %v", young.Warnings)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":true}`, "Authorization", token).expect(t, 200, "")
		s.pass(t, 61*day) // new names cannot be transferred for 60 days
		if d := s.domain(t, "first.com"); !d.Locked {
			t.Error("a new name is not locked")
		}
		s.do(t, "POST", "/domains/first.com/authcode", "").expect(t, 401, deed.CodeAuthRequired)
		s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", s.bearer(t, newAccount(t))).expect(t, 403, deed.CodeOwnershipDenied)
		code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token))
		if d := s.domain(t, "first.com"); d.Locked || code.AuthCode == "" || says(code.Warnings, "does not transfer the name yet") {
			t.Errorf("got %+v and %+v", code, d)
		}
		if err := s.registry.Leave(t.Context(), "first.com", "wrong"); err == nil {
			t.Error("the name leaves with any code")
		}
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err != nil {
			t.Fatal(err)
		}
		s.pass(t, day)
		if d := s.domain(t, "first.com"); d.Status != "transferring" || !has(d.Events, "transfer_out_started") || !says(d.Warnings, "another registrar has asked for the name") {
			t.Errorf("got %+v", d)
		}
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 400, deed.CodeValidation)
		s.pass(t, 5*day)
		s.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		s.audit(t)
	})
}

// says reports whether one of the warnings has the text.
func says(warnings []string, text string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestOwnerActions(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, heir := s.bought(t, "first.com"), s.buyer(t)
		mine, theirs := s.bearer(t, owner), s.bearer(t, heir)
		put := func(what, body, token string) answer {
			return s.do(t, "PUT", "/domains/first.com/"+what, body, "Authorization", token)
		}
		for what, body := range map[string]string{
			"lock": `{"locked":false}`, "nameservers": `{"nameservers":["ns1.example.net","ns2.example.net"]}`, "owner": fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet),
		} {
			put(what, body, theirs).expect(t, 403, deed.CodeOwnershipDenied)
		}
		if d := read[api.Domain](t, put("lock", `{"locked":false}`, mine)); d.Locked || len(d.EPPStatus) != 1 {
			t.Errorf("got %+v", d)
		}
		if d := delegated(t, put("nameservers", `{"nameservers":["NS1.example.net.","ns2.example.net"]}`, mine)); fmt.Sprint(d.Nameservers) != "[ns1.example.net ns2.example.net]" {
			t.Errorf("got %+v", d)
		}
		for _, bad := range []string{`["ns1.example.net"]`, `["192.0.2.1","ns2.example.net"]`, `["ns1.example.net","ns1.example.net"]`, `["a_b.example.net","ns2.example.net"]`} {
			put("nameservers", `{"nameservers":`+bad+`}`, mine).expect(t, 400, deed.CodeValidation)
		}
		if d := delegated(t, put("nameservers", `{"nameservers":[]}`, mine)); fmt.Sprint(d.Nameservers) != "[ns1.deed.example ns2.deed.example]" {
			t.Errorf("got %+v", d)
		}
		put("owner", fmt.Sprintf(`{"walletAddress":%q}`, owner.wallet), mine).expect(t, 400, deed.CodeValidation)
		put("owner", `{"walletAddress":"0x12"}`, mine).expect(t, 400, deed.CodeValidation)
		upper := "0x" + strings.ToUpper(string(heir.wallet)[2:])
		if d := read[api.Domain](t, put("owner", fmt.Sprintf(`{"walletAddress":%q}`, upper), mine)); d.WalletAddress != string(heir.wallet) {
			t.Errorf("got %+v", d)
		}
		put("lock", `{"locked":true}`, mine).expect(t, 403, deed.CodeOwnershipDenied)
		if d := read[api.Domain](t, put("lock", `{"locked":true}`, theirs)); !d.Locked {
			t.Errorf("got %+v", d)
		}
		s.audit(t)
	})
}

func TestAccountDomains(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		for _, n := range []string{"bbb.io", "aaa.com", "ccc.com"} {
			q := read[api.Quote](t, s.do(t, "POST", "/domains/register", fmt.Sprintf(`{"domain":"x%s","dryRun":true}`, n)))
			if got := s.register(t, "x"+n, s.promise(a, mustUSDC(t, q.Price)).header(t)); got.status != 201 {
				t.Fatalf("got %d %s", got.status, got.body)
			}
		}
		token := s.bearer(t, a)
		ask := func(query string) api.AccountDomains {
			return read[api.AccountDomains](t, s.get(t, "/account/domains"+query, "Authorization", token))
		}
		if got := ask("?limit=2&offset=1"); got.Total != 3 || len(got.Domains) != 2 || got.Domains[0].Domain != "xbbb.io" || got.Domains[1].Domain != "xccc.com" || got.Domains[1].RenewalPrice != "13.06" {
			t.Errorf("got %+v", got)
		}
		if got := ask("?status=redemption"); got.Total != 0 || len(got.Domains) != 0 {
			t.Errorf("got %+v", got)
		}
		if got := ask("?expiringWithinDays=30"); got.Total != 0 {
			t.Errorf("got %+v", got)
		}
		s.pass(t, 340*day)
		if got := ask("?expiringWithinDays=30"); got.Total != 3 {
			t.Errorf("got %+v", got)
		}
		var names, payments []string
		for cursor := ""; ; {
			got := s.get(t, "/account/domains?limit=1&expiringWithinDays=30&cursor="+cursor, "Authorization", token)
			list := read[api.AccountDomains](t, got)
			if strings.Contains(string(got.body), `"total"`) || strings.Contains(string(got.body), `"offset"`) {
				t.Errorf("got %s", got.body)
			}
			if cursor = list.Next; cursor == "" {
				break
			}
			names = append(names, list.Domains[0].Domain)
		}
		var cursorOfPayments string
		for cursor := ""; ; {
			list := read[api.Transactions](t, s.get(t, "/account/transactions?limit=2&cursor="+cursor, "Authorization", token))
			for _, tx := range list.Transactions {
				payments = append(payments, tx.Domain)
			}
			if cursor = list.Next; cursor == "" {
				break
			}
			cursorOfPayments = cursor
		}
		slices.Sort(payments)
		if want := []string{"xaaa.com", "xbbb.io", "xccc.com"}; !slices.Equal(names, want) || !slices.Equal(payments, want) {
			t.Errorf("by cursor: got %v and payments for %v", names, payments)
		}
		for _, bad := range []string{"?limit=0", "?limit=101", "?offset=-1", "?status=old", "?expiringWithinDays=0", "?cursor=&offset=0", "?cursor=x", "?cursor=%ff",
			"?cursor=" + cursorOfPayments, "?cursor=" + base64.RawURLEncoding.EncodeToString([]byte("names a\x00b.com")), "?cursor=" + strings.Repeat("A", 5000)} {
			s.get(t, "/account/domains"+bad, "Authorization", token).expect(t, 400, deed.CodeValidation)
		}
		for _, bad := range []string{"x", "transactions x a true", "transactions 1 \x00 true", "transactions 1 \xff true", "transactions 99999999999999999999 a true", "names xaaa.com"} {
			s.get(t, "/account/transactions?cursor="+base64.RawURLEncoding.EncodeToString([]byte(bad)), "Authorization", token).expect(t, 400, deed.CodeValidation)
		}
		s.get(t, "/account/domains").expect(t, 401, deed.CodeAuthRequired)
	})
}

// Premium names are sold at the registry's price plus markup, up to the maximum.
func TestPremiumNames(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		q := read[api.Quote](t, s.do(t, "POST", "/domains/register", `{"domain":"ab.io","dryRun":true}`))
		price := mustUSDC(t, q.Price)
		if price != catalog.Markup.Price(catalog.Markup{BasisPoints: 2000, Fee: 50 * deed.Cent}, 250_000_000) {
			t.Errorf("got %s", price)
		}
		s.do(t, "POST", "/domains/register", `{"domain":"ab.com","dryRun":true}`).expect(t, 400, deed.CodeTooExpensive)
		a := s.buyer(t)
		if got := s.register(t, "ab.io", s.promise(a, price).header(t)); got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		more := read[api.Quote](t, s.paid(t, "/domains/renew", `{"domain":"ab.io","dryRun":true}`, ""))
		list := read[api.AccountDomains](t, s.get(t, "/account/domains", "Authorization", s.bearer(t, a)))
		one := read[api.Domain](t, s.get(t, "/domains/ab.io"))
		if ordinary := read[api.Quote](t, s.do(t, "POST", "/domains/register", `{"domain":"abcdef.io","dryRun":true}`)); more.Price == ordinary.Price || list.Domains[0].RenewalPrice != more.Price || one.RenewalPrice != more.Price {
			t.Errorf("a year more costs %s, in the list %s, of the name %s, an ordinary name %s", more.Price, list.Domains[0].RenewalPrice, one.RenewalPrice, ordinary.Price)
		}
		s.audit(t)
	})
}

// A stream has each state of a job once, until the end.
func TestJobStream(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.faults.Set(local.FaultLate, 1)
		got := s.register(t, "first.com", s.promise(a, comPrice).header(t))
		var pending api.PendingOrder
		if err := json.Unmarshal([]byte(got.body), &pending); err != nil || got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		id := pending.JobID
		var body atomic.Value
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			body.Store(s.get(t, "/domains/status/"+id, "Accept", "text/event-stream"))
		}()
		s.runWorker(t)
		<-watched
		stream := body.Load().(answer)
		if stream.header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(stream.body, "event: job\n") || !strings.Contains(stream.body, `"status":"completed"`) {
			t.Errorf("got %s", stream.body)
		}
		for event := range strings.SplitSeq(strings.TrimSpace(stream.body), "\n\n") {
			if !strings.Contains(event, "\ndata: {") {
				t.Errorf("no event: %q", event)
			}
		}
		s.get(t, "/domains/status/job_00000000000000000000000000000000", "Accept", "text/event-stream").expect(t, 404, deed.CodeNotFound)
	})
}

// An order that never reaches the registry is repeated, and fails after three
// attempts: the buyer gets the name or a refund.
func TestOrdersThatNeverArrive(t *testing.T) {
	for lost, delivered := range map[int]bool{1: true, 2: true, 3: false} {
		t.Run(fmt.Sprintf("%d times", lost), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				a := s.buyer(t)
				before := s.balance(t, common.HexToAddress(string(a.wallet)))
				left := lost
				s.api.Registrations.Step = func(step string) {
					if step == "job: about to order" && left > 0 {
						left--
						s.faults.Set(local.FaultDown, 1)
					}
				}
				header := s.promise(a, comPrice).header(t)
				first := s.register(t, "first.com", header)
				s.runWorker(t)
				last := s.register(t, "first.com", header)
				paid := before - s.balance(t, common.HexToAddress(string(a.wallet)))
				if first.status != 202 || delivered && (last.status != 201 || paid != comPrice) || !delivered && (last.status != 500 || paid != 0) {
					t.Errorf("got %d, then %d %s, and paid %s", first.status, last.status, last.body, paid)
				}
				s.audit(t)
			})
		})
	}
}
