package e2e_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

// A dnsTry is a paid DNS call that can be repeated identically.
type dnsTry struct {
	method, path, body, token string
	payer                     *account
	payment                   string
	more                      []string
}

// try returns a call with the token, paid by a new wallet.
func (s *env) try(t *testing.T, method, path, body, token string) dnsTry {
	t.Helper()
	payer := s.buyer(t)
	return dnsTry{method: method, path: path, body: body, token: token, payer: payer, payment: s.promise(payer, change).header(t)}
}

func (c dnsTry) send(t *testing.T, s *env) answer {
	t.Helper()
	return s.do(t, c.method, c.path, c.body, append([]string{"Authorization", c.token, "PAYMENT-SIGNATURE", c.payment}, c.more...)...)
}

// leave sends the call with a growing wait until its outcome is pending: 503 with
// a pending receipt.
func (c dnsTry) leave(t *testing.T, s *env) {
	t.Helper()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		s.waits(wait)
		got := c.send(t, s)
		if got.status != 503 || wait > time.Minute {
			t.Fatalf("got %d %s, want 503", got.status, got.body)
		}
		if receipt := got.header.Get("PAYMENT-RESPONSE"); receipt != "" {
			s.waits(time.Minute)
			if r := receiptOf(t, receipt); r.Success || r.ErrorReason != "settlement_pending" || !strings.Contains(got.body, "do not pay again") || got.header.Get("Retry-After") == "" {
				t.Errorf("got %+v, %s", r, got.body)
			}
			return
		}
	}
}

func receiptOf(t *testing.T, header string) (r api.SettleResponse) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(header)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Error(err)
	}
	return r
}

// refused fails unless the call has failed and its payer got a full refund.
func (c dnsTry) refused(t *testing.T, s *env) {
	t.Helper()
	for range 2 {
		got := c.send(t, s)
		got.expect(t, 500, deed.CodeDNS)
		var failed api.FailedChange
		if err := json.Unmarshal([]byte(got.body), &failed); err != nil || failed.Refund.Status != "confirmed" || failed.Refund.Amount != "0.10" || failed.Refund.TxHash == nil {
			t.Errorf("got %s, %v", got.body, err)
		}
		if r := receiptOf(t, got.header.Get("PAYMENT-RESPONSE")); !r.Success {
			t.Errorf("got %+v", r)
		}
	}
	if left := s.balance(t, common.HexToAddress(string(c.payer.wallet))); left != 1_000_000_000 {
		t.Errorf("the payer has %s", left)
	}
}

// While the payment is pending the response is 503, and the change is made when it
// settles, even if no request waits. The same request then returns the result.
func TestChangeWithPendingPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		old := s.addedRecord(t, "first.com", []string{"Authorization", token})
		s.runWorker(t)
		add := s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"late","value":"192.0.2.20"}`, token)
		put := s.try(t, "PUT", "/dns/first.com/"+old.ID, `{"value":"192.0.2.11"}`, token)
		file := s.try(t, "POST", "/dns/first.com/import", "txt 300 IN TXT late\n", token)
		file.more = []string{"Content-Type", "text/dns"}
		s.chain.Pause()
		for range 2 {
			add.leave(t, s)
		}
		put.leave(t, s)
		if rcode, _ := s.dig(t, "late.first.com", "A"); rcode != "NXDOMAIN" {
			t.Errorf("got %s before the money", rcode)
		}
		s.chain.Resume()
		s.runWorker(t)
		for name, want := range map[string]string{"late.first.com": "192.0.2.20", "www.first.com": "192.0.2.11"} {
			if _, answers := s.dig(t, name, "A"); len(answers) != 1 || !strings.HasSuffix(answers[0], want) {
				t.Errorf("%s: got %v", name, answers)
			}
		}
		rec := created(t, add.send(t, s))
		if again := created(t, add.send(t, s)); again.ID != rec.ID || rec.Value != "192.0.2.20" {
			t.Errorf("got %+v, then %+v", rec, again)
		}
		if got := read[api.RecordUpdated](t, put.send(t, s)); got.Value != "192.0.2.11" {
			t.Errorf("got %+v", got)
		}
		s.chain.Pause()
		file.leave(t, s)
		s.chain.Resume()
		s.runWorker(t)
		if got := read[api.ZoneChanged](t, file.send(t, s)); got.Count != 1 {
			t.Errorf("got %+v", got)
		}
		if n := s.balance(t, s.payTo) - 1_000_000_000_000 - comPrice; n != 4*change {
			t.Errorf("paid %s", n)
		}
		s.audit(t)
	})
}

// Of conflicting changes that were all paid before either is made, one is made;
// the other payers get a refund.
func TestConflictingPaidChanges(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		old := s.addedRecord(t, "first.com", []string{"Authorization", token})
		s.runWorker(t)
		spent := s.balance(t, common.HexToAddress(string(owner.wallet)))
		revision := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)).Revision
		body := fmt.Sprintf(`{"ifRevision":%d,"changes":[{"op":"add","type":"TXT","host":"x","value":"only on this"}]}`, revision)
		for what, pair := range map[string][2]dnsTry{
			"a CNAME and an A":  {s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"one","value":"192.0.2.1"}`, token), s.try(t, "POST", "/dns/first.com", `{"type":"CNAME","host":"one","value":"other.example"}`, token)},
			"the same record":   {s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"same","value":"192.0.2.1"}`, token), s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"same","value":"192.0.2.1"}`, token)},
			"two deletions":     {s.try(t, "DELETE", "/dns/first.com/"+old.ID, "", token), s.try(t, "DELETE", "/dns/first.com/"+old.ID, "", token)},
			"an older revision": {s.try(t, "POST", "/dns/first.com/batch", strings.Replace(body, "only", "other", 1), token), s.try(t, "POST", "/dns/first.com/batch", strings.Replace(body, "only", "not", 1), token)},
		} {
			t.Run(what, func(t *testing.T) {
				if what == "an older revision" { // each of the others has created a new revision
					now := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)).Revision
					for i := range pair { // whichever is made first makes the other's revision an old one
						pair[i].body = strings.Replace(pair[i].body, fmt.Sprint(revision), fmt.Sprint(now), 1)
					}
				}
				testSecond(t, s, pair)
			})
		}
		if s.balance(t, common.HexToAddress(string(owner.wallet))) != spent {
			t.Error("the owner paid, or got what others had paid")
		}
		s.audit(t)
	})
}

func testSecond(t *testing.T, s *env, pair [2]dnsTry) {
	s.chain.Pause()
	for _, c := range pair {
		c.leave(t, s)
	}
	s.chain.Resume()
	s.runWorker(t)
	made := 0
	for _, c := range pair {
		if got := c.send(t, s); got.status < 300 {
			made++
			if left := s.balance(t, common.HexToAddress(string(c.payer.wallet))); left != 1_000_000_000-change {
				t.Errorf("the payer of what was made has %s", left)
			}
			continue
		}
		c.refused(t, s)
	}
	if made != 1 {
		t.Errorf("%d of two were made", made)
	}
}

// A name that is handed over or transferred out before the payment settles rejects
// the change of its former owner.
func TestPendingChangeOfFormerOwner(t *testing.T) {
	for what, goes := range map[string]struct {
		before, then func(t *testing.T, s *env, token string)
	}{
		"handed over": {func(*testing.T, *env, string) {}, func(t *testing.T, s *env, token string) {
			read[api.Domain](t, s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, newAccount(t).wallet), "Authorization", token))
		}},
		"transferred": {func(t *testing.T, s *env, token string) {
			s.pass(t, 61*day)
			code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token))
			if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err != nil {
				t.Fatal(err)
			}
			s.pass(t, 5*day-time.Minute)
		}, func(t *testing.T, s *env, _ string) { s.pass(t, 10*time.Minute) }},
	} {
		t.Run(what, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				token := s.bearer(t, s.bought(t, "first.com"))
				goes.before(t, s, token)
				c := s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"late","value":"192.0.2.20"}`, token)
				s.chain.Pause()
				c.leave(t, s)
				goes.then(t, s, token)
				s.chain.Resume()
				s.runWorker(t)
				c.refused(t, s)
				if _, answers := s.dig(t, "late.first.com", "A"); len(answers) != 0 {
					t.Errorf("got %v", answers)
				}
				s.audit(t)
			})
		})
	}
}
