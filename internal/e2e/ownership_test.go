package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// Every owner route rejects another wallet and changes nothing: lock, auth code,
// name servers and owner stay the same.
func TestAnotherWalletOnEveryOwnerRoute(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, stranger := s.bought(t, "first.com"), s.buyer(t)
		s.pass(t, 61*day) // its code could be used by now
		mine := s.bearer(t, owner)
		code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", mine))
		if d := read[api.Domain](t, s.do(t, "PUT", "/domains/first.com/lock", `{"locked":true}`, "Authorization", mine)); !d.Locked {
			t.Errorf("got %+v", d)
		}
		before := s.get(t, "/domains/first.com").body
		tried := 0
		for _, r := range namedRoutes {
			if !r.bearer {
				continue
			}
			tried++
			r.ask(t, s, "first.com", s.bearer(t, stranger), s.promise(stranger, comPrice).header(t)).expect(t, 403, deed.CodeOwnershipDenied)
			r.ask(t, s, "first.com", "Bearer nonsense", "").expect(t, 401, deed.CodeTokenInvalid)
			r.ask(t, s, "unknown.com", s.bearer(t, stranger), "").expect(t, 404, deed.CodeNotFound)
		}
		if after := s.get(t, "/domains/first.com").body; after != before || tried != 23 {
			t.Errorf("%d routes tried; before %s, after %s", tried, before, after)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice {
			t.Error("the stranger paid")
		}
		if d := read[api.Domain](t, s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", mine)); d.Locked {
			t.Errorf("got %+v", d)
		}
		// The owner's auth code is still valid: no other was created.
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err != nil {
			t.Error(err)
		}
		s.audit(t)
	})
}

// 0xAB and 0xab are the same wallet, for sign-in, hand-over and payment.
func TestWalletLetterCase(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, heir := s.bought(t, "first.com"), newAccount(t)
		upper := func(a *account) string { return "0x" + strings.ToUpper(string(a.wallet)[2:]) }
		signIn := func(a *account, spelled string) string {
			text := strings.Replace(message(a.wallet, s.nonce(t).Nonce, s.api.SignIn.Now()), a.wallet.Checksum(), spelled, 1)
			got := read[api.TokenSet](t, s.verify(t, text, a.sign(t, text)))
			if got.WalletAddress != string(a.wallet) {
				t.Errorf("signed in as %s: got %s", spelled, got.WalletAddress)
			}
			return "Bearer " + got.AccessToken
		}
		lock := func(token string) answer {
			return s.do(t, "PUT", "/domains/first.com/lock", `{"locked":true}`, "Authorization", token)
		}
		for _, spelled := range []string{upper(owner), string(owner.wallet), owner.wallet.Checksum()} {
			if got := lock(signIn(owner, spelled)); got.status != 200 {
				t.Errorf("%s: got %d %s", spelled, got.status, got.body)
			}
		}
		handOver := func(to, token string) answer {
			return s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, to), "Authorization", token)
		}
		handOver(wrongChecksum(heir.wallet), signIn(owner, upper(owner))).expect(t, 400, deed.CodeValidation)
		handOver(upper(owner), signIn(owner, string(owner.wallet))).expect(t, 400, deed.CodeValidation) // the wallet owns the name already
		if d := read[api.Domain](t, handOver(upper(heir), signIn(owner, string(owner.wallet)))); d.WalletAddress != string(heir.wallet) {
			t.Errorf("got %+v", d)
		}
		lock(signIn(owner, upper(owner))).expect(t, 403, deed.CodeOwnershipDenied)
		for _, spelled := range []string{upper(heir), string(heir.wallet), heir.wallet.Checksum()} {
			if got := lock(signIn(heir, spelled)); got.status != 200 {
				t.Errorf("%s: got %d %s", spelled, got.status, got.body)
			}
		}
		list := read[api.AccountDomains](t, s.get(t, "/account/domains", "Authorization", signIn(heir, upper(heir))))
		if list.Total != 1 || list.Domains[0].Domain != "first.com" {
			t.Errorf("got %+v", list)
		}
		s.audit(t)
	})
}

// Of two concurrent hand-overs one succeeds, and the other gets an ownership
// error.
func TestHandOverRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		heirs := make(chan *account, 16)
		for range cap(heirs) {
			heirs <- newAccount(t)
		}
		count := race(cap(heirs), func() int {
			return s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, (<-heirs).wallet), "Authorization", token).status
		})
		d := s.domain(t, "first.com")
		handed := 0
		for _, e := range d.Events {
			if e.Type == "handed_over" {
				handed++
			}
		}
		if count[200] != 1 || count[403] != 15 || handed != 1 {
			t.Errorf("got %v and %+v", count, d.Events)
		}
		s.audit(t)
	})
}
