package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// Every payment that is rejected over HTTP is rejected over MCP and A2A, with the
// same code and the offer, for a name and for a record; no money moves.
func TestAgentsWithBadPayments(t *testing.T) {
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		token := s.tokens(t, s.bought(t, "mine.com")).Access
		before := s.balance(t, s.payTo)
		for _, sold := range []struct {
			tool, args, token string
			price             deed.USDC
		}{
			{"register_domain", `{"domain":"first.com"}`, "", comPrice},
			{"add_dns_record", `{"domain":"mine.com","type":"A","host":"www","value":"192.0.2.10"}`, token, change},
		} {
			a := s.buyer(t)
			good := s.promise(a, sold.price).header(t)
			for name, bad := range s.badPayments(t, a, sold.price) {
				if got := use(t, sold.tool, sold.args, sold.token, bad.header); got.code != bad.code || !got.offer {
					t.Errorf("%s, %s: got %s, want %s and the offer", sold.tool, name, got.text, bad.code)
				}
			}
			if s.balance(t, s.payTo) != before || s.open(t) != 0 {
				t.Errorf("%s: something moved", sold.tool)
			}
			use(t, sold.tool, sold.args, sold.token, good).expect(t, "") // the valid payment is still usable
			if before += sold.price; s.balance(t, s.payTo) != before {
				t.Errorf("%s: got %s, want %s", sold.tool, s.balance(t, s.payTo), before)
			}
		}
		s.audit(t)
	})
}

// A repeated payment returns the same result, over any protocol. For anything else
// it is rejected, with its job and without an offer.
func TestAgentsPayTwice(t *testing.T) {
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		a := s.buyer(t)
		payment := s.promise(a, comPrice).header(t)
		first := use(t, "register_domain", `{"domain":"first.com"}`, "", payment)
		first.expect(t, "")
		again := map[string]outcome{"other bytes": use(t, "register_domain", `{"domain":"first.com"}`, "", reencode(t, payment, `{"x402Version":2,`, `{ "extra": 1, "x402Version": 2 ,`))}
		for name, other := range s.agentAPIs(t) {
			again[name] = other(t, "register_domain", `{"domain":"first.com"}`, "", payment)
		}
		for name, got := range again {
			if got.code != "" || got.jobID != first.jobID || first.jobID == "" {
				t.Errorf("%s: got %s, want %s", name, got.text, first.text)
			}
		}
		if got := s.register(t, "first.com", payment); got.status != 201 || !strings.Contains(got.body, first.jobID) {
			t.Errorf("over HTTP: got %d %s, want %s", got.status, got.body, first.jobID)
		}
		token := s.tokens(t, a).Access
		for tool, args := range map[string]string{
			"register_domain":    `{"domain":"second.com"}`,
			"renew_domain":       `{"domain":"first.com"}`,
			"transfer_domain":    fmt.Sprintf(`{"domain":"moving.com","auth_code":%q}`, s.elsewhere(t, "moving.com")),
			"add_dns_record":     `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.10"}`,
			"change_dns_records": `{"domain":"first.com","changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.10"}]}`,
		} {
			got := use(t, tool, args, token, payment)
			named := got.jobID == first.jobID || strings.Contains(tool, "dns") // a DNS change has no public job
			if got.code != deed.CodePaymentInvalid || got.offer || !named {
				t.Errorf("%s: got %s, want %s without an offer, and %s", tool, got.text, deed.CodePaymentInvalid, first.jobID)
			}
		}
		if moved := s.balance(t, s.payTo) - 1_000_000_000_000; moved != comPrice {
			t.Errorf("%s moved", moved)
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// The payment for one record pays for no other record, and for no update of it.
func TestAgentsPayTwiceForRecords(t *testing.T) {
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		token := s.tokens(t, s.bought(t, "first.com")).Access
		payment := s.promise(s.buyer(t), change).header(t)
		before := s.balance(t, s.payTo)
		const add = `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.%d"}`
		first := use(t, "add_dns_record", fmt.Sprintf(add, 1), token, payment)
		first.expect(t, "")
		if got := use(t, "add_dns_record", fmt.Sprintf(add, 1), token, payment); got != first {
			t.Errorf("again: got %s, want %s", got.text, first.text)
		}
		var record api.Record
		if err := json.Unmarshal([]byte(first.text), &record); err != nil {
			t.Fatal(err)
		}
		for tool, args := range map[string]string{
			"add_dns_record":    fmt.Sprintf(add, 2),
			"update_dns_record": fmt.Sprintf(`{"domain":"first.com","record_id":%q,"ttl":60}`, record.ID),
			"delete_dns_record": fmt.Sprintf(`{"domain":"first.com","record_id":%q}`, record.ID),
		} {
			if got := use(t, tool, args, token, payment); got.code != deed.CodePaymentInvalid || got.offer {
				t.Errorf("%s: got %s, want %s without an offer", tool, got.text, deed.CodePaymentInvalid)
			}
		}
		if moved := s.balance(t, s.payTo) - before; moved != change {
			t.Errorf("%s moved", moved)
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// accepted repeats an agent's order with a growing wait until it is accepted, and
// returns its job.
func (s *env) accepted(t *testing.T, use agentAPI, args, payment string) string {
	t.Helper()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		s.waits(wait)
		got := use(t, "register_domain", args, "", payment)
		if got.jobID != "" {
			return got.jobID
		}
		if got.code != deed.CodeUnavailable || wait > time.Minute {
			t.Fatalf("got %s %s, want a job", got.code, got.text)
		}
	}
}

// An agent that lost the response signs a new payment: it gets what it paid for
// before, and pays once.
func TestAgentsSignAgain(t *testing.T) {
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		a := s.buyer(t)
		s.chain.Pause()
		var jobs []string
		second := s.promise(a, comPrice).header(t)
		for _, payment := range []string{s.promise(a, comPrice).header(t), second} {
			jobs = append(jobs, s.accepted(t, use, `{"domain":"first.com"}`, payment))
		}
		s.chain.Resume()
		s.waits(time.Minute)
		s.runWorker(t)
		got := use(t, "register_domain", `{"domain":"first.com"}`, "", second)
		got.expect(t, "")
		if jobs[0] == "" || jobs[0] != jobs[1] || got.jobID != jobs[0] {
			t.Errorf("got %v, then %s", jobs, got.text)
		}
		if moved := s.balance(t, s.payTo) - 1_000_000_000_000; moved != comPrice {
			t.Errorf("%s moved", moved)
		}
		s.audit(t)
	})
}

// ownerTools are the tools that only the owner of a name may use.
var ownerTools = map[string]string{
	"list_dns_records":   `{"domain":"%s"}`,
	"add_dns_record":     `{"domain":"%s","type":"A","host":"www","value":"192.0.2.10"}`,
	"update_dns_record":  `{"domain":"%s","record_id":"%s","ttl":60}`,
	"delete_dns_record":  `{"domain":"%s","record_id":"%s"}`,
	"change_dns_records": `{"domain":"%s","changes":[{"op":"delete","id":"%s"}]}`,

	"export_dns_zone":       `{"domain":"%s"}`,
	"import_dns_zone":       `{"domain":"%s","zone_file":"a 300 IN A 192.0.2.10"}`,
	"list_dns_revisions":    `{"domain":"%s"}`,
	"roll_back_dns_zone":    `{"domain":"%s","revision":1}`,
	"check_dns_propagation": `{"domain":"%s"}`,
	"set_lock":              `{"domain":"%s","locked":false}`,
	"set_nameservers":       `{"domain":"%s","nameservers":["ns1.example.net","ns2.example.net"]}`,
	"set_ds_records":        `{"domain":"%s","ds":[]}`,
	"get_auth_code":         `{"domain":"%s"}`,
	"change_owner":          `{"domain":"%s","wallet_address":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f"}`,
}

// Every owner tool rejects another wallet, whatever it pays: 401, 404 and 403 come
// before any offer. The record id of another name is rejected, too.
func TestAgentsOfOtherWallets(t *testing.T) {
	for _, tool := range agent.Tools(true) {
		if _, tried := ownerTools[tool.Name]; tool.Bearer && strings.Contains(tool.Path, "{domain}") && !tried {
			t.Errorf("%s is not tried: give it a row in ownerTools", tool.Name)
		}
	}
	eachAgentAPI(t, func(t *testing.T, s *env, use agentAPI) {
		owner, stranger := s.bought(t, "first.com"), s.bought(t, "second.com")
		mine := s.addedRecord(t, "first.com", []string{"Authorization", s.bearer(t, owner)}).ID
		s.runWorker(t)
		token, before := s.tokens(t, stranger).Access, s.balance(t, s.payTo)
		good := s.promise(stranger, change).header(t)
		for tool, args := range ownerTools {
			fill := func(domain string) string {
				return strings.NewReplacer(`"domain":"%s"`, `"domain":"`+domain+`"`, `"%s"`, `"`+mine+`"`).Replace(args)
			}
			for _, payment := range []string{"", good} {
				for _, c := range []struct {
					domain, token string
					code          deed.Code
				}{
					{"first.com", "", deed.CodeAuthRequired}, {"first.com", "nonsense", deed.CodeTokenInvalid},
					{"first.com", token, deed.CodeOwnershipDenied}, {"unknown.com", token, deed.CodeNotFound},
				} {
					if got := use(t, tool, fill(c.domain), c.token, payment); got.code != c.code || got.offer {
						t.Errorf("%s of %s: got %s, want %s", tool, c.domain, got.text, c.code)
					}
				}
				if strings.Count(args, "%s") == 2 {
					use(t, tool, fill("second.com"), token, payment).expect(t, deed.CodeNotFound) // own name, record of another name
				}
			}
		}
		use(t, "register_domain", `{"domain":"third.com"}`, s.tokens(t, owner).Access, s.promise(stranger, comPrice).header(t)).expect(t, deed.CodeOwnershipDenied) // payer and token differ
		if s.balance(t, s.payTo) != before || s.open(t) != 0 {
			t.Error("something moved")
		}
		list := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", s.bearer(t, owner)))
		if len(list.Records) != 1 || list.Records[0].ID != mine || list.Records[0].TTL == 60 {
			t.Errorf("got %+v", list)
		}
		use(t, "add_dns_record", `{"domain":"first.com","type":"A","host":"api","value":"192.0.2.11"}`, s.tokens(t, owner).Access, good).expect(t, "") // the payment is still usable
		s.runWorker(t)
		s.audit(t)
	})
}
