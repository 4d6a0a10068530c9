package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
)

// A name that is not served any more rejects changes, also before the lifecycle job has
// recorded its end; no payment is requested or taken.
func TestChangeAfterExpiry(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		ends := s.domain(t, "first.com").ExpiresAt.AddDate(0, 0, s.api.Catalog.GraceDays("com")+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays)
		s.pass(t, ends.Sub(s.clock.Now())-time.Minute)
		token := s.bearer(t, owner)
		s.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"x","value":"192.0.2.1"}`, token, "").expect(t, 400, deed.CodeValidation)
		s.clock.advance(2 * time.Minute) // without running the lifecycle job
		token = s.bearer(t, owner)
		for path, body := range map[string]string{
			"/dns/first.com": `{"type":"A","host":"x","value":"192.0.2.1"}`, "/dns/first.com/batch": `{"changes":[{"op":"add","type":"A","host":"x","value":"192.0.2.1"}]}`,
			"/dns/first.com/import": "x 300 IN A 192.0.2.1\n", "/dns/first.com/rollback/1": "",
		} {
			c := s.try(t, "POST", path, body, token)
			if path == "/dns/first.com/import" {
				c.more = []string{"Content-Type", "text/dns"}
			}
			c.send(t, s).expect(t, 404, deed.CodeNotFound)
			c.payment = ""
			c.send(t, s).expect(t, 404, deed.CodeNotFound)
			if left := s.balance(t, common.HexToAddress(string(c.payer.wallet))); left != 1_000_000_000 {
				t.Errorf("%s: the payer has %s", path, left)
			}
		}
		s.get(t, "/dns/first.com", "Authorization", token).expect(t, 404, deed.CodeNotFound)
		s.audit(t)
	})
}

// A paid change can be repeated after its zone is deleted, and after the name has
// another owner.
func TestRepeatedChangeAfterZoneIsDeleted(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		old := s.addedRecord(t, "first.com", []string{"Authorization", token})
		revision := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)).Revision
		file := s.try(t, "POST", "/dns/first.com/import", "txt 300 IN TXT text\n", token)
		file.more = []string{"Content-Type", "text/dns"}
		tries := []dnsTry{
			file,
			s.try(t, "POST", fmt.Sprintf("/dns/first.com/rollback/%d", revision), "", token),
			s.try(t, "POST", "/dns/first.com/batch", fmt.Sprintf(`{"changes":[{"op":"update","id":%q,"ttl":600}]}`, old.ID), token),
			s.try(t, "POST", "/dns/first.com", `{"type":"A","host":"one","value":"192.0.2.1"}`, token),
		}
		var first []string
		for _, c := range tries {
			got := c.send(t, s)
			if got.status >= 300 {
				t.Fatalf("%s: got %d %s", c.path, got.status, got.body)
			}
			first = append(first, got.body)
		}
		again := func(when string) {
			t.Helper()
			for i, c := range tries {
				c.token = s.bearer(t, owner)
				got := c.send(t, s)
				if got.body != first[i] || !receiptOf(t, got.header.Get("PAYMENT-RESPONSE")).Success {
					t.Errorf("%s: %s: got %d %s, want %s", when, c.path, got.status, got.body, first[i])
				}
				if left := s.balance(t, common.HexToAddress(string(c.payer.wallet))); left != 1_000_000_000-change {
					t.Errorf("%s: %s: the payer has %s", when, c.path, left)
				}
			}
		}
		s.runWorker(t)
		s.pass(t, s.domain(t, "first.com").ExpiresAt.AddDate(0, 0, 90).Sub(s.clock.Now()))
		s.get(t, "/dns/first.com", "Authorization", s.bearer(t, owner)).expect(t, 404, deed.CodeNotFound)
		again("ended")
		s.bought(t, "first.com")
		again("sold anew")
		s.audit(t)
	})
}
