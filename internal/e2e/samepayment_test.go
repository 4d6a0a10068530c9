package e2e_test

import (
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

// One payment that comes thirty times at once gets thirty times the same name, and counts
// as one order.
func TestSamePaymentAtOnceCountsOnce(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.api.Limits.Register = oneWindow().Register
		header := s.promise(s.buyer(t), comPrice).header(t)
		answers := make([]answer, 30)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = s.register(t, "first.com", header) })
		}
		wg.Wait()
		jobs := map[string]bool{}
		for _, got := range answers {
			if got.status != 201 && got.status != 202 {
				t.Fatalf("got %d %s", got.status, got.body)
			}
			var p api.PendingOrder
			if err := json.Unmarshal([]byte(got.body), &p); err != nil || p.JobID == "" {
				t.Errorf("got %s: %v", got.body, err)
			}
			jobs[p.JobID] = true
		}
		if len(jobs) != 1 {
			t.Errorf("got the jobs %v", jobs)
		}
		if got := s.register(t, "first.com", header); got.header.Get("X-RateLimit-Remaining") != "9" {
			t.Errorf("%s of 10 orders are left", got.header.Get("X-RateLimit-Remaining"))
		}
		if got := s.register(t, "second.com", s.promise(s.buyer(t), comPrice).header(t)); got.header.Get("X-RateLimit-Remaining") != "8" {
			t.Errorf("after another order %s of 10 are left", got.header.Get("X-RateLimit-Remaining"))
		}
	})
}

// A request with an accepted payment that is not the request of that payment is counted like
// any other, and limited.
func TestOtherRequestsWithAPaymentAreCounted(t *testing.T) {
	s := openEnv(t, options{})
	s.api.Limits.Register, s.api.Limits.DNS = oneWindow().Register, oneWindow().DNS
	owner := s.buyer(t)
	header := s.promise(owner, comPrice).header(t)
	s.register(t, "first.com", header).expect(t, 201, "")
	token := s.bearer(t, owner)
	left := func(path, body string) string {
		t.Helper()
		return s.do(t, "POST", path, body, "PAYMENT-SIGNATURE", header, "Authorization", token).header.Get("X-RateLimit-Remaining")
	}
	for _, tt := range []struct{ path, body, left string }{
		{"/domains/register", `{"domain":"second.com","dryRun":true}`, "8"},
		{"/domains/renew", `{"domain":"first.com","dryRun":true}`, "7"},
		{"/domains/register", `{"domain":"second.com"}`, "6"},
		{"/domains/register", `{`, "5"},
		{"/domains/register", `{"domain":"first.com"}`, "5"}, // the request of the payment
		{"/dns/first.com/batch", `{"dryRun":true,"changes":[{"op":"add","type":"A","host":"a","value":"192.0.2.1"}]}`, "99"},
		{"/dns/first.com/rollback/1?dryRun=true", ``, "98"},
		{"/dns/first.com", `{"type":"A","host":"a","value":"192.0.2.1"}`, "97"},
	} {
		if got := left(tt.path, tt.body); got != tt.left {
			t.Errorf("%s %s: %s are left, want %s", tt.path, tt.body, got, tt.left)
		}
	}
	for range 5 {
		left("/domains/register", `{"domain":"second.com","dryRun":true}`)
	}
	for _, body := range []string{`{"domain":"second.com","dryRun":true}`, `{"domain":"second.com"}`} {
		s.do(t, "POST", "/domains/register", body, "PAYMENT-SIGNATURE", header).expect(t, 429, deed.CodeRateLimited)
	}
	s.register(t, "first.com", header).expect(t, 201, "")
}
