package e2e_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/local"
)

const (
	comRenewal deed.USDC = 13_060_000
	day                  = 24 * time.Hour
)

// bought returns a wallet that has just bought the name.
func (s *env) bought(t *testing.T, domain string) *account {
	t.Helper()
	a := s.buyer(t)
	if got := s.register(t, domain, s.promise(a, comPrice).header(t)); got.status != 201 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	return a
}

// renew requests a renewal.
func (s *env) paid(t *testing.T, path, body, payment string) answer {
	t.Helper()
	if payment == "" {
		return s.do(t, "POST", path, body)
	}
	return s.do(t, "POST", path, body, "PAYMENT-SIGNATURE", payment)
}

// pass advances the clock and runs the lifecycle job.
func (s *env) pass(t *testing.T, d time.Duration) {
	t.Helper()
	s.clock.advance(d)
	s.runLifecycle(t)
}

// runLifecycle advances every name that is due.
func (s *env) runLifecycle(t *testing.T) {
	t.Helper()
	names, err := s.lifecycle.Due(t.Context(), 1000)
	for _, n := range names {
		if err == nil {
			err = s.lifecycle.Advance(t.Context(), n)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) domain(t *testing.T, name string) api.Domain {
	t.Helper()
	return read[api.Domain](t, s.get(t, "/domains/"+name))
}

func (s *env) bearer(t *testing.T, a *account) string { return "Bearer " + s.tokens(t, a).Access }

func has(events []api.DomainEvent, kind string) bool {
	for _, e := range events {
		if e.Type == kind {
			return true
		}
	}
	return false
}

// An expired name can be renewed in grace, restored in redemption, and is deleted
// after that. The owner gets warnings.
func TestNameLifecycle(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := func() string { return s.bearer(t, owner) }
		at := func(offset time.Duration) api.Domain {
			s.pass(t, s.domain(t, "first.com").ExpiresAt.Add(offset).Sub(s.clock.Now()))
			return s.domain(t, "first.com")
		}
		if d := at(-31 * day); d.Status != "active" || has(d.Events, "expires_in_30_days") {
			t.Errorf("31 days before: got %+v", d)
		}
		if d := at(-6 * day); !has(d.Events, "expires_in_30_days") || !has(d.Events, "expires_in_7_days") || has(d.Events, "expires_in_1_day") {
			t.Errorf("6 days before: got %+v", d)
		}
		d := at(4 * day)
		if d.Status != "expired" || d.Grace == nil || d.Grace.Phase != "grace" || d.Grace.Price != "13.06" || !has(d.Events, "expired_3_days_ago") || len(d.Warnings) == 0 {
			t.Errorf("in grace: got %+v", d)
		}
		if acc := read[api.AccountDomains](t, s.get(t, "/account/domains?status=expired", "Authorization", token())); acc.Total != 1 || !has(acc.Domains[0].Events, "expired") {
			t.Errorf("got %+v", acc)
		}
		if got := s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)); got.status != 200 {
			t.Errorf("in grace: got %d %s", got.status, got.body)
		}
		if d := s.domain(t, "first.com"); d.Status != "active" || d.Grace != nil {
			t.Errorf("renewed: got %+v", d)
		}
		d = at(50 * day)
		restore := mustUSDC(t, d.Grace.Price)
		if d.Status != "redemption" || d.Grace.Phase != "redemption" || restore <= comRenewal {
			t.Errorf("in redemption: got %+v", d)
		}
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 402, deed.CodePaymentInvalid)
		if got := s.renew(t, "first.com", 1, s.promise(owner, restore).header(t)); got.status != 200 {
			t.Errorf("in redemption: got %d %s", got.status, got.body)
		}
		d = at(time.Duration(s.api.Catalog.GraceDays("com")+lifecycle.RedemptionDays+3) * day)
		if d.Status != "pending_delete" || d.Grace.Price != "" {
			t.Errorf("pending delete: got %+v", d)
		}
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 400, deed.CodeValidation)
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 409, deed.CodeDomainUnavailable)
		s.pass(t, 5*day)
		s.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		next := s.bought(t, "first.com")
		if d := s.domain(t, "first.com"); d.WalletAddress != string(next.wallet) || d.Status != "active" || len(d.Events) != 1 {
			t.Errorf("sold again: got %+v", d)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", token()).expect(t, 403, deed.CodeOwnershipDenied)
		s.audit(t)
	})
}

func mustUSDC(t *testing.T, s string) deed.USDC {
	t.Helper()
	u, err := deed.ParseUSDC(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOwnerActions(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, heir := s.bought(t, "first.com"), s.buyer(t)
		mine, theirs := s.bearer(t, owner), s.bearer(t, heir)
		put := func(what, body, token string) answer {
			return s.do(t, "PUT", "/domains/first.com/"+what, body, "Authorization", token)
		}
		for what, body := range map[string]string{
			"lock": `{"locked":false}`, "nameservers": `{"nameservers":["ns1.example.net","ns2.example.net"]}`, "owner": fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet),
		} {
			put(what, body, theirs).expect(t, 403, deed.CodeOwnershipDenied)
		}
		if d := read[api.Domain](t, put("lock", `{"locked":false}`, mine)); d.Locked || len(d.EPPStatus) != 1 {
			t.Errorf("got %+v", d)
		}
		if d := delegated(t, put("nameservers", `{"nameservers":["NS1.example.net.","ns2.example.net"]}`, mine)); fmt.Sprint(d.Nameservers) != "[ns1.example.net ns2.example.net]" {
			t.Errorf("got %+v", d)
		}
		for _, bad := range []string{`["ns1.example.net"]`, `["192.0.2.1","ns2.example.net"]`, `["ns1.example.net","ns1.example.net"]`, `["a_b.example.net","ns2.example.net"]`} {
			put("nameservers", `{"nameservers":`+bad+`}`, mine).expect(t, 400, deed.CodeValidation)
		}
		if d := delegated(t, put("nameservers", `{"nameservers":[]}`, mine)); fmt.Sprint(d.Nameservers) != "[ns1.deed.example ns2.deed.example]" {
			t.Errorf("got %+v", d)
		}
		put("owner", fmt.Sprintf(`{"walletAddress":%q}`, owner.wallet), mine).expect(t, 400, deed.CodeValidation)
		put("owner", `{"walletAddress":"0x12"}`, mine).expect(t, 400, deed.CodeValidation)
		upper := "0x" + strings.ToUpper(string(heir.wallet)[2:])
		if d := read[api.Domain](t, put("owner", fmt.Sprintf(`{"walletAddress":%q}`, upper), mine)); d.WalletAddress != string(heir.wallet) {
			t.Errorf("got %+v", d)
		}
		put("lock", `{"locked":true}`, mine).expect(t, 403, deed.CodeOwnershipDenied)
		if d := read[api.Domain](t, put("lock", `{"locked":true}`, theirs)); !d.Locked {
			t.Errorf("got %+v", d)
		}
		s.audit(t)
	})
}

// Premium names are sold at the registry's price plus markup, up to the maximum.
func TestPremiumNames(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		q := read[api.Quote](t, s.do(t, "POST", "/domains/register", `{"domain":"ab.io","dryRun":true}`))
		price := mustUSDC(t, q.Price)
		if price != catalog.Markup.Price(catalog.Markup{BasisPoints: 2000, Fee: 50 * deed.Cent}, 250_000_000) {
			t.Errorf("got %s", price)
		}
		s.do(t, "POST", "/domains/register", `{"domain":"ab.com","dryRun":true}`).expect(t, 400, deed.CodeTooExpensive)
		a := s.buyer(t)
		if got := s.register(t, "ab.io", s.promise(a, price).header(t)); got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		more := read[api.Quote](t, s.paid(t, "/domains/renew", `{"domain":"ab.io","dryRun":true}`, ""))
		list := read[api.AccountDomains](t, s.get(t, "/account/domains", "Authorization", s.bearer(t, a)))
		one := read[api.Domain](t, s.get(t, "/domains/ab.io"))
		if ordinary := read[api.Quote](t, s.do(t, "POST", "/domains/register", `{"domain":"abcdef.io","dryRun":true}`)); more.Price == ordinary.Price || list.Domains[0].RenewalPrice != more.Price || one.RenewalPrice != more.Price {
			t.Errorf("a year more costs %s, in the list %s, of the name %s, an ordinary name %s", more.Price, list.Domains[0].RenewalPrice, one.RenewalPrice, ordinary.Price)
		}
		s.audit(t)
	})
}

// A stream has each state of a job once, until the end.
func TestJobStream(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a := s.buyer(t)
		s.faults.Set(local.FaultLate, 1)
		got := s.register(t, "first.com", s.promise(a, comPrice).header(t))
		var pending api.PendingOrder
		if err := json.Unmarshal([]byte(got.body), &pending); err != nil || got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		id := pending.JobID
		var body atomic.Value
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			body.Store(s.get(t, "/domains/status/"+id, "Accept", "text/event-stream"))
		}()
		s.runWorker(t)
		<-watched
		stream := body.Load().(answer)
		if stream.header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(stream.body, "event: job\n") || !strings.Contains(stream.body, `"status":"completed"`) {
			t.Errorf("got %s", stream.body)
		}
		for event := range strings.SplitSeq(strings.TrimSpace(stream.body), "\n\n") {
			if !strings.Contains(event, "\ndata: {") {
				t.Errorf("no event: %q", event)
			}
		}
		// An EventSource connects again when the stream ends, unless it gets 204.
		last := stream.body[strings.LastIndex(stream.body, "\nid: ")+len("\nid: "):]
		last, _, _ = strings.Cut(last, "\n")
		for seen, want := range map[string]int{last: 204, id + "-1": 200} {
			if again := s.get(t, "/domains/status/"+id, "Accept", "text/event-stream", "Last-Event-ID", seen); again.status != want {
				t.Errorf("after %s: got %d, want %d", seen, again.status, want)
			}
		}
		s.get(t, "/domains/status/job_00000000000000000000000000000000", "Accept", "text/event-stream").expect(t, 404, deed.CodeNotFound)
	})
}

// An order that never reaches the registry is repeated, and fails after three
// attempts: the buyer gets the name or a refund.
func TestOrdersThatNeverArrive(t *testing.T) {
	for lost, delivered := range map[int]bool{1: true, 2: true, 3: false} {
		t.Run(fmt.Sprintf("%d times", lost), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				a := s.buyer(t)
				before := s.balance(t, common.HexToAddress(string(a.wallet)))
				left := lost
				s.api.Registrations.Step = func(step string) {
					if step == "job: about to order" && left > 0 {
						left--
						s.faults.Set(local.FaultDown, 1)
					}
				}
				header := s.promise(a, comPrice).header(t)
				first := s.register(t, "first.com", header)
				s.runWorker(t)
				last := s.register(t, "first.com", header)
				paid := before - s.balance(t, common.HexToAddress(string(a.wallet)))
				if first.status != 202 || delivered && (last.status != 201 || paid != comPrice) || !delivered && (last.status != 500 || paid != 0) {
					t.Errorf("got %d, then %d %s, and paid %s", first.status, last.status, last.body, paid)
				}
				s.audit(t)
			})
		})
	}
}
