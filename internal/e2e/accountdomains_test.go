package e2e_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

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
