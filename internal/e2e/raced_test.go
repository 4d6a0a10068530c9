package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// payments returns n payments of n wallets.
func (s *env) payments(t *testing.T, n int, amount deed.USDC) chan string {
	t.Helper()
	out := make(chan string, n)
	for range n {
		out <- s.promise(s.buyer(t), amount).header(t)
	}
	return out
}

// One payment in many concurrent transfers makes one transfer, and other wallets
// that pay for the name concurrently keep their money.
func TestTransfersRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for _, c := range []struct {
			domain string
			payers int
		}{{"one.com", 1}, {"many.com", 20}} {
			code, err := s.registry.Elsewhere(t.Context(), deed.Name(c.domain))
			if err != nil {
				t.Fatal(err)
			}
			s.pass(t, 61*day)
			had := s.balance(t, s.payTo)
			headers := s.payments(t, c.payers, s.transferPrice(t))
			count := race(20, func() int {
				header := <-headers
				if c.payers == 1 {
					headers <- header
				}
				got := s.transfer(t, c.domain, code.Reveal(), header)
				if got.status == 400 && strings.Contains(got.body, "another transfer of "+c.domain+" is pending") {
					return 409 // a late caller: the registry has the first order already, and refuses before anything is paid
				}
				return got.status
			})
			if want := 20 / c.payers; count[202] != want || count[202]+count[409] != 20 || s.balance(t, s.payTo) != had+s.transferPrice(t) {
				t.Errorf("%d payers: got %v and %s", c.payers, count, s.balance(t, s.payTo)-had)
			}
			s.pass(t, 5*day+1)
			s.runWorker(t)
			if d := s.domain(t, c.domain); d.Status != "active" {
				t.Errorf("got %+v", d)
			}
		}
		s.audit(t)
	})
}

// Every kind of change, raced with one payment and with many: one payment makes
// one change, and of many identical changes one is made.
func TestEveryChangeRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		add := func(host string) api.Record {
			body := fmt.Sprintf(`{"type":"A","host":%q,"value":"192.0.2.1"}`, host)
			return created(t, s.dnsCall(t, "POST", "/dns/first.com", body, token, <-s.payments(t, 1, change)))
		}
		history := func() []api.Revision {
			return read[api.Revisions](t, s.get(t, "/dns/first.com/revisions?limit=100", "Authorization", token)).Revisions
		}
		for _, payers := range []int{1, 10} {
			changed, deleted := add(fmt.Sprintf("changed%d", payers)), add(fmt.Sprintf("deleted%d", payers))
			start := history()[0].Revision
			batch := fmt.Sprintf(`{"changes":[{"op":"add","type":"A","host":"batch%d","value":"192.0.2.1"}]}`, payers)
			file := fmt.Sprintf("file%d 300 IN A 192.0.2.1\n", payers)
			for _, c := range []struct {
				method, path, body, media string
				price                     deed.USDC
			}{
				{"PUT", "/dns/first.com/" + changed.ID, `{"value":"192.0.2.9"}`, "", change},
				{"DELETE", "/dns/first.com/" + deleted.ID, "", "", change},
				{"POST", "/dns/first.com/batch", batch, "", change},
				{"POST", "/dns/first.com/import", file, "text/dns", change},
				{"POST", fmt.Sprintf("/dns/first.com/rollback/%d", start), "", "", 4 * change},
			} {
				had := len(history())
				headers := s.payments(t, payers, c.price)
				count := race(10, func() int {
					header := <-headers
					if payers == 1 {
						headers <- header
					}
					more := []string{"Authorization", token, "PAYMENT-SIGNATURE", header}
					if c.media != "" {
						more = append(more, "Content-Type", c.media)
					}
					got := s.do(t, c.method, c.path, c.body, more...)
					if got.status == 200 && got.header.Get("PAYMENT-RESPONSE") == "" {
						return 204 // a late caller: the zone is as it wants it to be, so it paid nothing
					}
					return got.status
				})
				s.runWorker(t)
				if made := len(history()) - had; made == 0 || payers == 1 && (made != 1 || count[200] != 10) || payers > 1 && made != count[200] {
					t.Errorf("%s %s by %d: got %v and %d changes", c.method, c.path, payers, count, made)
				}
			}
		}
		s.audit(t)
	})
}
