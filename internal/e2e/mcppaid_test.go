package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
)

// Every form of payment over MCP buys, returns the receipt, and can be repeated.
func TestPayOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.agent(t)
		for i, pay := range []func(p *promise) any{
			func(p *promise) any { return object(t, p.header(t)) },
			func(p *promise) any { return p.header(t) },
			func(p *promise) any { return object(t, p.headerV1(t)) },
			func(p *promise) any { return p.headerV1(t) },
		} {
			buyer, args := s.buyer(t), fmt.Sprintf(`{"domain":"name%d.com","max_price_usd":"15"}`, i)
			o, text := offeredBy(t, a.use(t, "register_domain", args, nil))
			if o.Accepts[0].Amount != fmt.Sprint(int64(comPrice)) || !strings.HasPrefix(text, "PAYMENT_REQUIRED: ") {
				t.Errorf("got %+v %s", o, text)
			}
			payment := pay(s.promise(buyer, comPrice))
			before := s.balance(t, s.payTo)
			first := a.use(t, "register_domain", args, payment)
			reg := done[api.Registration](t, first)
			receipt, _ := json.Marshal(first.Meta["x402/payment-response"]) // null is not a receipt
			if reg.WalletAddress != string(buyer.wallet) || !strings.Contains(string(receipt), `"success":true`) {
				t.Errorf("got %+v, receipt %s", reg, receipt)
			}
			again := done[api.Registration](t, a.use(t, "register_domain", args, payment))
			if again.JobID != reg.JobID || s.balance(t, s.payTo)-before != comPrice {
				t.Errorf("the payment sent again: got %+v, %s moved", again, s.balance(t, s.payTo)-before)
			}
			if d := done[api.Domain](t, a.use(t, "get_domain", fmt.Sprintf(`{"domain":"name%d.com"}`, i), nil)); d.WalletAddress != string(buyer.wallet) {
				t.Errorf("got %+v", d)
			}
		}
		s.audit(t)
	})
}

// One payment in many concurrent calls buys one name, once.
func TestOnePaymentRacedOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, before := s.agent(t), s.balance(t, s.payTo)
		payment := s.promise(s.buyer(t), comPrice).header(t)
		got := race(8, func() int {
			if r := a.use(t, "register_domain", `{"domain":"first.com"}`, payment); r.IsError {
				t.Errorf("got %s", body(t, r))
				return 1
			}
			return 0
		})
		s.runWorker(t)
		if moved := s.balance(t, s.payTo) - before; got[0] != 8 || moved != comPrice {
			t.Errorf("got %v, %s moved", got, moved)
		}
		s.audit(t)
	})
}

// A payment that is invalid over HTTP is invalid over MCP, and no money moves.
func TestBadPaymentsOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, buyer := s.agent(t), s.buyer(t)
		s.bought(t, "first.com")
		before := s.balance(t, s.payTo)
		for name, payment := range map[string]any{
			"too little": s.promise(buyer, comPrice-1).header(t),
			"too much":   s.promise(buyer, comPrice+1).header(t),
			"nothing":    "",
			"no base64":  "%%%",
			"a number":   7,
			"a list":     []any{},
			"no payload": map[string]any{"x402Version": 2},
			"broke":      s.promise(newAccount(t), comPrice).header(t),
		} {
			o, text := offeredBy(t, a.use(t, "register_domain", `{"domain":"second.com"}`, payment))
			if len(o.Accepts) != 1 || o.Error == "" || !strings.HasPrefix(text, "PAYMENT_IN") {
				t.Errorf("%s: got %+v %s", name, o, text)
			}
		}
		good := s.promise(buyer, comPrice).header(t)
		refusedWith(t, a.use(t, "register_domain", `{"domain":"first.com"}`, good), deed.CodeDomainUnavailable)
		refusedWith(t, a.use(t, "register_domain", `{"domain":"second.com","max_price_usd":"1"}`, good), deed.CodeValidation)
		refusedWith(t, s.agent(t, "Authorization", s.bearer(t, s.buyer(t))).use(t, "register_domain", `{"domain":"second.com"}`, good), deed.CodeOwnershipDenied)
		if moved := s.balance(t, s.payTo) - before; moved != 0 || s.open(t) != 0 {
			t.Errorf("%s moved", moved)
		}
		done[api.Registration](t, a.use(t, "register_domain", `{"domain":"second.com"}`, good))
		other, text := offeredBy(t, a.use(t, "register_domain", `{"domain":"third.com"}`, good))
		if len(other.Accepts) != 0 || !strings.Contains(text, "get_job") {
			t.Errorf("a payment for something else: got %+v %s", other, text)
		}
		s.audit(t)
	})
}

// An owner changes the DNS of a name through tools, each change paid once; another
// wallet is rejected, whatever it pays.
func TestDNSOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, stranger := s.bought(t, "first.com"), s.buyer(t)
		s.runWorker(t)
		mine, theirs := s.agent(t, "Authorization", s.bearer(t, owner)), s.agent(t, "Authorization", s.bearer(t, stranger))
		before := s.balance(t, s.payTo)
		change := func(tool, args string, price deed.USDC) *mcp.CallToolResult {
			t.Helper()
			payment := s.promise(stranger, price).header(t) // anyone may pay
			refusedWith(t, theirs.use(t, tool, args, payment), deed.CodeOwnershipDenied)
			o, _ := offeredBy(t, mine.use(t, tool, args, nil))
			if len(o.Accepts) != 1 || o.Accepts[0].Amount != fmt.Sprint(int64(price)) {
				t.Errorf("%s: got %+v", tool, o)
			}
			first := mine.use(t, tool, args, payment)
			if again := mine.use(t, tool, args, payment); body(t, again) != body(t, first) || first.IsError {
				t.Errorf("%s: got %s, then %s", tool, body(t, first), body(t, again))
			}
			return first
		}
		added := done[api.Record](t, change("add_dns_record", `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.1"}`, 100_000))
		change("update_dns_record", fmt.Sprintf(`{"domain":"first.com","record_id":%q,"value":"192.0.2.2"}`, added.ID), 100_000)
		refusedWith(t, theirs.use(t, "list_dns_records", `{"domain":"first.com"}`, nil), deed.CodeOwnershipDenied)
		list := done[api.RecordList](t, mine.use(t, "list_dns_records", `{"domain":"first.com","type":"A"}`, nil))
		if len(list.Records) != 1 || list.Records[0].Value != "192.0.2.2" {
			t.Errorf("got %+v", list)
		}
		changes := `{"domain":"first.com","changes":[{"op":"add","type":"MX","host":"@","value":"mail.first.com","distance":10},{"op":"add","type":"TXT","host":"@","value":"v=spf1 mx -all"}]%s}`
		if dry := done[api.ZoneChanged](t, mine.use(t, "change_dns_records", fmt.Sprintf(changes, `,"dry_run":true`), nil)); !dry.DryRun || dry.Count != 2 {
			t.Errorf("got %+v", dry)
		}
		change("change_dns_records", fmt.Sprintf(changes, ""), 200_000)
		change("delete_dns_record", fmt.Sprintf(`{"domain":"first.com","record_id":%q}`, added.ID), 100_000)
		if moved := s.balance(t, s.payTo) - before; moved != 500_000 {
			t.Errorf("%s moved", moved)
		}
		s.runWorker(t)
		s.audit(t)
	})
}
