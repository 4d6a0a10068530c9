package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// expectDetail fails unless the response is a 400 about the field.
func (a answer) expectDetail(t *testing.T, what, field string) {
	t.Helper()
	e := a.error(t)
	if a.status != 400 || e.Code != string(deed.CodeValidation) || len(e.Details) != 1 || e.Details[0].Field != field {
		t.Errorf("%s: got %d %s, want a 400 about %s", what, a.status, a.body, field)
	}
}

// orders are the three kinds of orders, with the rest of their body.
var orders = map[string]string{
	"/domains/register": `"domain":"second.com"`,
	"/domains/renew":    `"domain":"first.com"`,
	"/domains/transfer": `"domain":"third.com","authCode":"code"`,
}

// A price limit of 0 and 0 years are rejected in every order, paid, unpaid and dry
// run, before any money moves: the payment stays usable.
func TestZeroInOrderIsRejected(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		buyer := s.bought(t, "first.com")
		payment := s.promise(buyer, comPrice).header(t)
		for path, body := range orders {
			for _, dry := range []string{"", `,"dryRun":true`} {
				for _, paid := range []string{"", payment} {
					for _, limit := range []string{"0", "0.00", "0.000000", "", " ", "-1", "1e2", "0x1", "\u0664"} {
						in := fmt.Sprintf(`{%s,"maxPriceUsd":%s%s}`, body, quoteJSON(t, limit), dry)
						s.paid(t, path, in, paid).expectDetail(t, path+in, "maxPriceUsd")
					}
					for _, years := range []string{"0", "-1", "11"} {
						in := fmt.Sprintf(`{%s,"years":%s%s}`, body, years, dry)
						s.paid(t, path, in, paid).expectDetail(t, path+in, "years")
					}
				}
			}
		}
		s.paid(t, "/domains/register", `{"domain":"second.com","maxPriceUsd":"0.000001"}`, payment).expectDetail(t, "a cap below the price", "maxPriceUsd")
		if got := s.paid(t, "/domains/register", `{"domain":"second.com","maxPriceUsd":"13.06"}`, payment); got.status != 201 {
			t.Errorf("the payment afterwards: got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// The defaults: the TLD's minimum of years for a new name, one for a renewal, and
// any price.
func TestAbsentFieldsHaveDefaults(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		for _, tt := range []struct {
			path, body string
			years      int
		}{
			{"/domains/register", `{"domain":"second.com","dryRun":true}`, 1},
			{"/domains/register", `{"domain":"second.ai","dryRun":true}`, 2},
			{"/domains/renew", `{"domain":"first.com","dryRun":true}`, 1},
			{"/domains/renew", `{"domain":"first.com","years":3,"maxPriceUsd":"100","dryRun":true}`, 3},
		} {
			if q := read[api.Quote](t, s.do(t, "POST", tt.path, tt.body)); q.Years != tt.years {
				t.Errorf("%s: got %d years, want %d", tt.body, q.Years, tt.years)
			}
		}
	})
}

// Agents get the same errors, with the names of their arguments.
func TestZeroOverAgentsIsRejected(t *testing.T) {
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		payment := s.promise(s.bought(t, "first.com"), comPrice).header(t)
		for tool, rest := range map[string]string{"register_domain": `"domain":"second.com"`, "renew_domain": `"domain":"first.com"`, "transfer_domain": `"domain":"third.com","auth_code":"code"`} {
			for _, bad := range []string{`"max_price_usd":"0"`, `"max_price_usd":"0.00"`, `"max_price_usd":""`, `"years":0`, `"years":0,"dry_run":true`, `"max_price_usd":"0","dry_run":true`} {
				if tool == "transfer_domain" && strings.Contains(bad, "years") {
					continue // it has no such argument
				}
				for _, paid := range []string{"", payment} {
					out := use(t, tool, fmt.Sprintf(`{%s,%s}`, rest, bad), "", paid)
					out.expect(t, deed.CodeValidation)
					if field, _, _ := strings.Cut(strings.TrimPrefix(bad, `"`), `"`); out.offer || !strings.Contains(out.text, `"field":"`+field+`"`) {
						t.Errorf("%s %s: got %s", tool, bad, out.text)
					}
				}
			}
		}
		if got := s.register(t, "second.com", payment); got.status != 201 {
			t.Errorf("the payment afterwards: got %d %s", got.status, got.body)
		}
	})
}

// An explicit zero is a value everywhere else, too: accepted if it makes sense,
// rejected otherwise.
func TestZeroIsAValue(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		change := func() string { return s.promise(owner, 100_000).header(t) }
		for _, tt := range []struct{ method, path, body, field string }{
			{"POST", "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"a","value":"192.0.2.1"}],"ifRevision":0}`, "ifRevision"},
			{"POST", "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"a","value":"192.0.2.1"}],"ifRevision":0,"dryRun":true}`, "ifRevision"},
			{"POST", "/dns/first.com", `{"type":"A","host":"a","value":"192.0.2.1","ttl":0}`, "ttl"},
			{"POST", "/dns/first.com/rollback/0", "", "revision"},
			{"GET", "/account/domains?limit=0", "", "limit"},
			{"GET", "/account/domains?expiringWithinDays=0", "", "expiringWithinDays"},
			{"GET", "/account/transactions?limit=0", "", "limit"},
			{"POST", "/sandbox/faucet", fmt.Sprintf(`{"walletAddress":%q,"amount_usd":"0"}`, owner.wallet), "amount_usd"},
			{"POST", "/sandbox/faults", `{"registrar":"down","times":0}`, "times"},
			{"POST", "/sandbox/clock", `{"advance":"0h"}`, "advance"},
			{"POST", "/sandbox/clock", `{"advance":"0d"}`, "advance"},
		} {
			s.do(t, tt.method, tt.path, tt.body, "Authorization", token, "PAYMENT-SIGNATURE", change()).expectDetail(t, tt.path+tt.body, tt.field)
		}
		if got := read[api.AccountDomains](t, s.get(t, "/account/domains?offset=0", "Authorization", token)); got.Total != 1 || got.Offset != 0 {
			t.Errorf("got %+v", got)
		}
		for _, body := range []string{
			`{"type":"MX","host":"@","value":"mail.example.com","distance":0}`, `{"type":"MX","host":"b","value":"mail.example.com","priority":0}`,
			`{"type":"SRV","host":"_a._tcp","value":"0 443 www.example.com","distance":0}`,
		} {
			if rec := created(t, s.dnsCall(t, "POST", "/dns/first.com", body, token, change())); rec.Distance == nil || *rec.Distance != 0 {
				t.Errorf("%s: got %+v", body, rec)
			}
		}
		s.audit(t)
	})
}

// A missing field is not the same as false or zero: such a body changes nothing.
func TestMissingFieldIsNotItsZero(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		was := s.domain(t, "first.com")
		for path, field := range map[string]string{"lock": "locked", "nameservers": "nameservers"} {
			for _, body := range []string{`{}`, fmt.Sprintf(`{%q:null}`, field)} {
				s.do(t, "PUT", "/domains/first.com/"+path, body, "Authorization", token).expectDetail(t, path+body, field)
			}
		}
		for _, body := range []string{`{"domain":"moving.com"}`, `{"domain":"moving.com","approve":null}`} {
			s.do(t, "POST", "/sandbox/transfers", body).expectDetail(t, body, "approve")
		}
		if is := s.domain(t, "first.com"); !is.Locked || !slices.Equal(is.Nameservers, was.Nameservers) {
			t.Errorf("got %+v, want it unchanged", is)
		}
	})
}

// A missing body is 400 in every call that needs one, with and without a content
// type, with length 0 and without a length. An order without a payment gets the
// offer for crawlers.
func TestMissingBody(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.enableMCP(func() {})
		s.enableA2A(func() {})
		buyer := s.bought(t, "first.com")
		token, payment := s.bearer(t, buyer), s.promise(buyer, comPrice).header(t)
		tried := 0
		for _, op := range operations(t) {
			if len(op.media) == 0 {
				continue
			}
			method, path, _ := strings.Cut(op.endpoint, " ")
			path = strings.NewReplacer("{domain}", "first.com", "{recordId}", "r").Replace(path)
			for _, headers := range []string{"", "Content-Type: " + op.media[0] + "\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n"} {
				for _, paid := range []string{"", "PAYMENT-SIGNATURE: " + payment + "\r\n"} {
					tried++
					s.emptyRequest(t, method+" "+path, "Authorization: "+token+"\r\nAccept: application/json, text/event-stream\r\n"+headers, paid)
				}
			}
		}
		if tried < 100 {
			t.Errorf("only %d requests were tried", tried)
		}
		if got := s.register(t, "second.com", payment); got.status != 201 {
			t.Errorf("the payment afterwards: got %d %s", got.status, got.body)
		}
	})
}

func (s *env) emptyRequest(t *testing.T, endpoint, headers, paid string) {
	t.Helper()
	end := "\r\n"
	if strings.Contains(headers, "chunked") {
		end = "\r\n0\r\n\r\n"
	}
	got := s.raw(t, endpoint+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+headers+paid+end)
	if len(got) != 1 {
		t.Fatalf("%s %q: got %d answers", endpoint, headers, len(got))
	}
	_, path, _ := strings.Cut(endpoint, " ")
	if _, order := orders[path]; order && paid == "" {
		got[0].expect(t, http.StatusPaymentRequired, deed.CodePaymentRequired)
		if !strings.Contains(got[0].body, `"price_usd":"13.06"`) {
			t.Errorf("%s %q: got %s", endpoint, headers, got[0].body)
		}
		return
	}
	if got[0].status != 400 || got[0].error(t).Code != string(deed.CodeValidation) {
		t.Errorf("%s %.200q: got %d %s", endpoint, headers[strings.Index(headers, "Accept"):], got[0].status, got[0].body)
	}
}
