package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar/local"
)

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

// An owner who did not order a transfer away rejects it with the lock, and the code that started
// it is of no use any more.
func TestLockRejectsATransfer(t *testing.T) {
	rejects := func(t *testing.T, s *env, registry *local.Registry) {
		token := s.bearer(t, s.bought(t, "first.com"))
		s.pass(t, 61*day)
		code := deed.Secret(read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token)).AuthCode)
		if err := registry.Leave(t.Context(), "first.com", code); err != nil {
			t.Fatal(err)
		}
		s.pass(t, day)
		if d := s.domain(t, "first.com"); d.Status != "transferring" || !says(d.Warnings, "lock the name") {
			t.Errorf("got %+v", d)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":true}`, "Authorization", token).expect(t, 200, "")
		s.pass(t, 2*time.Minute)
		if d := s.domain(t, "first.com"); d.Status != "active" || !d.Locked || !has(d.Events, "transfer_out_stopped") {
			t.Errorf("got %+v", d)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", token).expect(t, 200, "")
		if err := registry.Leave(t.Context(), "first.com", code); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("the code of the transfer: got %v", err)
		}
		s.audit(t)
	}
	eachEnv(t, func(t *testing.T, s *env) { rejects(t, s, s.registry) })
	t.Run("EPP", func(t *testing.T) {
		e := openEPPEnv(t, nil)
		rejects(t, e.env, e.outside)
	})
}

// The owner of a name that was transferred in with name servers elsewhere, or without any, is
// told that its records here are not used, until it is delegated to us or a month has passed.
func TestTransferredNameIsServedElsewhere(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		token := s.bearer(t, a)
		for _, domain := range []string{"stays.com", "moves.com"} {
			code, err := s.registry.Elsewhere(t.Context(), deed.Name(domain))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.transfer(t, domain, code.Reveal(), s.promise(a, s.transferPrice(t)).header(t)); got.status != 202 {
				t.Fatalf("got %d %s", got.status, got.body)
			}
		}
		s.pass(t, 5*day+time.Minute)
		s.runWorker(t)
		if d := s.domain(t, "stays.com"); !says(d.Warnings, "has no name servers") {
			t.Errorf("without servers: got %v", d.Warnings)
		}
		for _, domain := range []string{"stays.com", "moves.com"} {
			s.do(t, "PUT", "/domains/"+domain+"/nameservers", `{"nameservers":["ns1.example.net","ns2.example.net"]}`, "Authorization", token).expect(t, 200, "")
			if d := s.domain(t, domain); !says(d.Warnings, "are not in the public DNS") {
				t.Errorf("%s: got %v", domain, d.Warnings)
			}
		}
		delegated(t, s.do(t, "PUT", "/domains/moves.com/nameservers", `{"nameservers":[]}`, "Authorization", token))
		s.pass(t, 31*day)
		for _, domain := range []string{"stays.com", "moves.com"} {
			if d := s.domain(t, domain); says(d.Warnings, "in the public DNS") {
				t.Errorf("%s, later: got %v", domain, d.Warnings)
			}
		}
		s.audit(t)
	})
}

// A name that was transferred away between two comparisons has left, and nobody has to
// look for it.
func TestTransferOutBetweenComparisons(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		s.pass(t, 61*day)
		code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token))
		err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode))
		if err == nil {
			err = s.registry.Decide(t.Context(), "first.com", true)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.pass(t, day)
		s.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		var types []string
		for _, e := range read[api.Events](t, s.get(t, "/account/events", "Authorization", token)).Events {
			types = append(types, e.Type)
		}
		if !slices.Contains(types, "domain.transferred") || slices.Contains(types, "domain.missing_at_registry") {
			t.Errorf("got %v", types)
		}
		s.audit(t)
	})
}

// says reports whether one of the warnings has the text.
func says(warnings []string, text string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, text) })
}
