package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

const change = 10 * deed.Cent

// dnsCall makes a DNS call with a token, and with the payment if it is not "".
func (s *env) dnsCall(t *testing.T, method, path, body, token, payment string) answer {
	t.Helper()
	headers := []string{"Authorization", token}
	if payment != "" {
		headers = append(headers, "PAYMENT-SIGNATURE", payment)
	}
	return s.do(t, method, path, body, headers...)
}

// created decodes a record that was added.
func created(t *testing.T, a answer) (rec api.Record) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &rec); err != nil || a.status != 201 {
		t.Fatalf("got %d %s, %v", a.status, a.body, err)
	}
	return rec
}

// Records are added, served by the name server at once, changed and deleted, each
// for its price.
func TestRecords(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		pay := func() string { return s.promise(owner, change).header(t) }
		const www = `{"type":"A","host":"www","value":"192.0.2.10"}`
		s.dnsCall(t, "POST", "/dns/first.com", www, token, "").expect(t, 402, deed.CodePaymentRequired)
		header := pay()
		got := s.dnsCall(t, "POST", "/dns/first.com", www, token, header)
		var rec api.Record
		if err := json.Unmarshal([]byte(got.body), &rec); err != nil || got.status != 201 || rec.ID == "" || rec.Host != "www" || rec.TTL != 3600 || rec.Distance != nil {
			t.Fatalf("got %d %s, %v", got.status, got.body, err)
		}
		if rcode, answers := s.dig(t, "www.first.com", "A"); rcode != "NOERROR" || len(answers) != 1 || !strings.HasSuffix(answers[0], "IN A 192.0.2.10") {
			t.Errorf("got %s %v", rcode, answers)
		}
		for range 3 {
			if again := s.dnsCall(t, "POST", "/dns/first.com", www, token, header); again.status != 201 || again.body != got.body {
				t.Errorf("again: got %d %s", again.status, again.body)
			}
		}
		s.dnsCall(t, "POST", "/dns/first.com", www, token, pay()).expect(t, 400, deed.CodeValidation)
		updated := read[api.RecordUpdated](t, s.dnsCall(t, "PUT", "/dns/first.com/"+rec.ID, `{"value":"192.0.2.11"}`, token, pay()))
		if updated.ID != rec.ID || updated.Value != "192.0.2.11" || updated.TTL != 3600 {
			t.Errorf("got %+v", updated)
		}
		if again := s.dnsCall(t, "POST", "/dns/first.com", www, token, header); again.body != got.body {
			t.Errorf("the first answer has changed: %s", again.body)
		}
		if _, answers := s.dig(t, "www.first.com", "A"); len(answers) != 1 || !strings.HasSuffix(answers[0], "192.0.2.11") {
			t.Errorf("got %v", answers)
		}
		if list := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)); len(list.Records) != 1 || list.Records[0].Value != "192.0.2.11" {
			t.Errorf("got %+v", list)
		}
		if gone := read[api.RecordDeleted](t, s.dnsCall(t, "DELETE", "/dns/first.com/"+rec.ID, "", token, pay())); gone.ID != rec.ID {
			t.Errorf("got %+v", gone)
		}
		if rcode, answers := s.dig(t, "www.first.com", "A"); rcode != "NXDOMAIN" {
			t.Errorf("got %s %v", rcode, answers)
		}
		s.dnsCall(t, "DELETE", "/dns/first.com/"+rec.ID, "", token, pay()).expect(t, 404, deed.CodeNotFound)
		if paid := s.balance(t, s.payTo) - 1_000_000_000_000 - comPrice; paid != 3*change {
			t.Errorf("paid %s", paid)
		}
		if txs := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", token)); txs.Total != 4 {
			t.Errorf("got %+v", txs)
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// Ownership is checked before the payment.
func TestRecordsOfOthers(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		stranger := s.buyer(t)
		token := s.bearer(t, stranger)
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/dns/first.com", ""},
			{"POST", "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.10"}`},
			{"POST", "/dns/first.com", `{"type":"A","host":"www","value":"300.0.2.10"}`},
			{"PUT", "/dns/first.com/rec_1", `{"ttl":60}`},
			{"DELETE", "/dns/first.com/rec_1", ""},
			{"POST", "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.10"}]}`},
			{"GET", "/dns/first.com/export", ""},
			{"GET", "/dns/first.com/revisions", ""},
			{"POST", "/dns/first.com/rollback/1", ""},
			{"GET", "/dns/first.com/propagation", ""},
		} {
			s.dnsCall(t, c.method, c.path, c.body, token, "").expect(t, 403, deed.CodeOwnershipDenied)
			s.dnsCall(t, c.method, c.path, c.body, token, s.promise(stranger, change).header(t)).expect(t, 403, deed.CodeOwnershipDenied)
			s.do(t, c.method, c.path, c.body).expect(t, 401, deed.CodeAuthRequired)
			s.dnsCall(t, c.method, strings.Replace(c.path, "first.com", "other.com", 1), c.body, token, "").expect(t, 404, deed.CodeNotFound)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice || s.open(t) != 0 {
			t.Error("something moved")
		}
	})
}

// One payment in a hundred concurrent requests makes one change, and a hundred
// payments make a hundred.
func TestRecordsRaced(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		header := s.promise(owner, change).header(t)
		add := func(host, payment string) int {
			return s.dnsCall(t, "POST", "/dns/first.com", fmt.Sprintf(`{"type":"A","host":%q,"value":"192.0.2.10"}`, host), token, payment).status
		}
		if count := race(100, func() int { return add("one", header) }); count[201] != 100 {
			t.Errorf("one payment: got %v", count)
		}
		type try struct{ host, payment string }
		tries := make(chan try, 100)
		for i := range cap(tries) {
			tries <- try{fmt.Sprintf("h%d", i), s.promise(s.buyer(t), change).header(t)}
		}
		if count := race(cap(tries), func() int { next := <-tries; return add(next.host, next.payment) }); count[201] != 100 {
			t.Errorf("many payments: got %v", count)
		}
		// Twenty pay for the same record: one gets it, and the others' money does not
		// move or is refunded.
		same := make(chan string, 20)
		for range cap(same) {
			same <- s.promise(s.buyer(t), change).header(t)
		}
		count := race(cap(same), func() int { return add("same", <-same) })
		s.runWorker(t)
		if count[201] != 1 || count[201]+count[400]+count[500] != 20 {
			t.Errorf("one record: got %v", count)
		}
		if list := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)); len(list.Records) != 102 {
			t.Errorf("got %d records", len(list.Records))
		}
		s.audit(t)
	})
}

func TestBatchImportRollback(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		call := func(method, path, body string, amount deed.USDC, more ...string) answer {
			headers := append([]string{"Authorization", token, "PAYMENT-SIGNATURE", s.promise(owner, amount).header(t)}, more...)
			return s.do(t, method, path, body, headers...)
		}
		batch := `{"changes":[{"op":"add","type":"A","host":"@","value":"192.0.2.1"},{"op":"add","type":"MX","host":"@","value":"mail.first.com","distance":10},{"op":"add","type":"TXT","host":"@","value":"v=spf1 -all; \"q\""}]}`
		dry := read[api.ZoneChanged](t, s.dnsCall(t, "POST", "/dns/first.com/batch", strings.Replace(batch, "{", `{"dryRun":true,`, 1), token, ""))
		if !dry.DryRun || dry.Count != 3 || dry.Price != "0.30" {
			t.Errorf("got %+v", dry)
		}
		for _, none := range []string{`{"dryRun":true}`, `{"dryRun":true,"changes":[]}`, `{"changes":[]}`} {
			s.dnsCall(t, "POST", "/dns/first.com/batch", none, token, "").expectDetail(t, none, "changes")
		}
		s.dnsCall(t, "POST", "/dns/first.com/batch", batch, token, "").expect(t, 402, deed.CodePaymentRequired)
		call("POST", "/dns/first.com/batch", batch, change).expect(t, 402, deed.CodePaymentInvalid)
		made := read[api.ZoneChanged](t, call("POST", "/dns/first.com/batch", batch, 3*change))
		if made.Count != 3 || len(made.Changes) != 3 || made.Changes[0].After == nil || made.Changes[0].After.ID == "" {
			t.Errorf("got %+v", made)
		}
		call("POST", "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"x","value":"192.0.2.1"},{"op":"add","type":"CNAME","host":"x","value":"y.example"}]}`, 2*change).expect(t, 400, deed.CodeValidation)
		call("POST", "/dns/first.com/batch", `{"ifRevision":7,"changes":[{"op":"add","type":"A","host":"x","value":"192.0.2.1"}]}`, change).expect(t, 400, deed.CodeValidation)

		file := s.get(t, "/dns/first.com/export", "Authorization", token)
		if file.status != 200 || !strings.HasPrefix(file.header.Get("Content-Type"), "text/dns") || !strings.Contains(file.body, "192.0.2.1") {
			t.Errorf("got %d %s", file.status, file.body)
		}
		if _, soa := s.dig(t, "first.com", "SOA"); len(soa) != 1 || !strings.Contains(strings.ReplaceAll(file.body, "\t", " "), "@"+strings.TrimPrefix(soa[0], "first.com.")) || !strings.Contains(soa[0], " 345600 ") {
			t.Errorf("served %q, exported %s", soa, file.body)
		}
		text := []string{"Content-Type", "text/dns"}
		if same := read[api.ZoneChanged](t, s.do(t, "POST", "/dns/first.com/import?mode=replace", file.body, append(text, "Authorization", token)...)); same.Count != 0 || same.Price != "0.00" {
			t.Errorf("its own file: got %+v", same)
		}
		other := strings.Replace(file.body, "192.0.2.1", "192.0.2.2", 1) + "www 300 IN A 192.0.2.3\n"
		plan := read[api.ZoneChanged](t, s.do(t, "POST", "/dns/first.com/import?mode=replace&dryRun=true", other, append(text, "Authorization", token)...))
		if plan.Count != 2 || plan.Price != "0.20" {
			t.Errorf("got %+v", plan)
		}
		if dry := s.do(t, "POST", "/dns/first.com/import?dryRun=true", "new 300 IN A 192.0.2.3\n", append(text, "Authorization", token)...); strings.Contains(dry.body, "0001-01-01") {
			t.Errorf("a planned record has a time: %s", dry.body)
		}
		wrong := s.do(t, "POST", "/dns/first.com/import", "a 5 IN A 192.0.2.1\nb 300 IN A x\n", append(text, "Authorization", token)...)
		if e := wrong.error(t); len(e.Details) != 2 || e.Details[0].Field != "line 1, column 3" || e.Details[1].Field != "line 2, column 12" {
			t.Errorf("two errors: got %s", wrong.body)
		}
		clamped := read[api.ZoneChanged](t, s.do(t, "POST", "/dns/first.com/import?dryRun=true&ttl=clamp", "a 5 IN A 192.0.2.1\n", append(text, "Authorization", token)...))
		if clamped.Count != 1 || clamped.Changes[0].After.TTL != 60 {
			t.Errorf("clamped: got %+v", clamped)
		}
		header := s.promise(owner, 2*change).header(t)
		imported := func() answer {
			return s.do(t, "POST", "/dns/first.com/import?mode=replace", other, append(text, "Authorization", token, "PAYMENT-SIGNATURE", header)...)
		}
		first := imported()
		if got := read[api.ZoneChanged](t, first); got.Count != 2 || got.Revision <= made.Revision {
			t.Errorf("got %+v", got)
		}
		paid := header
		header = s.promise(owner, 2*change).header(t)
		if same := read[api.ZoneChanged](t, imported()); same.Count != 0 || same.Price != "0.00" {
			t.Errorf("a payment for an import that changes nothing: got %+v", same)
		}
		header = paid
		if again := imported(); again.body != first.body {
			t.Errorf("again: got %d %s", again.status, again.body)
		}
		if _, answers := s.dig(t, "www.first.com", "A"); len(answers) != 1 {
			t.Errorf("got %v", answers)
		}
		history := read[api.Revisions](t, s.get(t, "/dns/first.com/revisions", "Authorization", token))
		if len(history.Revisions) != 3 || history.Revisions[1].Revision != made.Revision || history.Revisions[0].Records != 4 {
			t.Errorf("got %+v", history)
		}
		back := fmt.Sprintf("/dns/first.com/rollback/%d", made.Revision)
		s.dnsCall(t, "POST", back, "", token, "").expect(t, 402, deed.CodePaymentRequired)
		if got := read[api.ZoneChanged](t, call("POST", back, "", 2*change)); got.Count != 2 {
			t.Errorf("got %+v", got)
		}
		if rcode, _ := s.dig(t, "www.first.com", "A"); rcode != "NXDOMAIN" {
			t.Errorf("got %s", rcode)
		}
		call("POST", "/dns/first.com/rollback/1", "", change).expect(t, 404, deed.CodeNotFound)
		if p := read[api.Propagation](t, s.get(t, "/dns/first.com/propagation", "Authorization", token)); len(p.Servers) != 1 || !p.Servers[0].InSync {
			t.Errorf("got %+v", p)
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// A name starts with its initial records, is not served in redemption, and its
// next owner starts with a new zone.
func TestZoneFollowsLifecycle(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.buyer(t)
		got := s.paid(t, "/domains/register", `{"domain":"first.com","dns_records":[{"type":"A","host":"@","value":"192.0.2.1"},{"type":"MX","host":"@","value":"mail.first.com","priority":10}]}`, s.promise(owner, comPrice).header(t))
		var bought api.Registration
		if err := json.Unmarshal([]byte(got.body), &bought); err != nil || got.status != 201 || len(bought.DNSRecords) != 2 || bought.DNSRecords[0].ID == "" {
			t.Fatalf("got %d %s, %v", got.status, got.body, err)
		}
		follow := func() {
			if err := s.follower.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		answers := func() int {
			follow()
			_, all := s.dig(t, "first.com", "A")
			return len(all)
		}
		if answers() != 1 {
			t.Error("a new name does not resolve")
		}
		at := func(d int) { s.pass(t, bought.ExpiresAt.AddDate(0, 0, d).Sub(s.clock.Now())) }
		if at(10); answers() != 1 {
			t.Error("a name in grace does not resolve")
		}
		if at(50); answers() != 0 {
			t.Error("a name in redemption resolves")
		}
		token := s.bearer(t, owner)
		s.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.1"}`, token, "").expect(t, 400, deed.CodeValidation)
		s.dnsCall(t, "DELETE", "/dns/first.com/"+bought.DNSRecords[0].ID, "", token, "").expect(t, 400, deed.CodeValidation)
		if got := s.renew(t, "first.com", 1, s.promise(owner, mustUSDC(t, s.domain(t, "first.com").Grace.Price)).header(t)); got.status != 200 || answers() != 1 {
			t.Errorf("restored: got %d %s, and %d answers", got.status, got.body, answers())
		}
		s.pass(t, s.domain(t, "first.com").ExpiresAt.AddDate(0, 0, 90).Sub(s.clock.Now()))
		if rcode, _ := s.dig(t, "first.com", "A"); answers() != 0 {
			t.Errorf("a deleted name resolves: %s", rcode)
		}
		next := s.bought(t, "first.com")
		if list := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", s.bearer(t, next))); len(list.Records) != 0 {
			t.Errorf("the next owner has the records of the one before: %+v", list)
		}
		s.dnsCall(t, "GET", "/dns/first.com", "", s.bearer(t, owner), "").expect(t, 403, deed.CodeOwnershipDenied)
		s.paid(t, "/domains/register", `{"domain":"second.com","dns_records":[{"type":"CNAME","host":"@","value":"other.example"}]}`, "").expect(t, 400, deed.CodeValidation)
		s.audit(t)
	})
}
