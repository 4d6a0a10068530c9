package e2e_test

import (
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

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
