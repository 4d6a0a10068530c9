package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// get_job waits for slow orders: one that succeeds, one that fails.
func TestWaitOverMCP(t *testing.T) {
	for name, approve := range map[string]bool{"approved": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) { testWait(t, s, approve) })
		})
	}
}

func testWait(t *testing.T, s *env, approve bool) {
	code, err := s.registry.Elsewhere(t.Context(), "moving.com")
	if err != nil {
		t.Fatal(err)
	}
	decide := sync.OnceFunc(func() {
		if err := s.registry.Decide(t.Context(), "moving.com", approve); err != nil {
			t.Error(err)
		}
	})
	s.enableMCP(func() { decide(); s.step(t) })
	a, payment := s.agent(t), s.promise(s.buyer(t), comPrice).header(t)
	args := fmt.Sprintf(`{"domain":"moving.com","auth_code":%q,"wait_seconds":%%d}`, code.Reveal())
	pending := done[api.PendingOrder](t, a.use(t, "transfer_domain", fmt.Sprintf(args, 0), payment))
	if pending.Status != "pending" {
		t.Fatalf("got %+v", pending)
	}
	got := a.use(t, "get_job", fmt.Sprintf(`{"job_id":%q,"wait_seconds":30}`, pending.JobID), nil)
	if j := done[api.Job](t, got); j.Completed != approve || !approve && j.Status != "failed" {
		t.Errorf("got %+v", j)
	}
	again := a.use(t, "transfer_domain", fmt.Sprintf(args, 30), payment)
	if approve {
		if came := done[api.Registration](t, again); came.JobID != pending.JobID {
			t.Errorf("got %+v", came)
		}
	} else {
		refusedWith(t, again, deed.CodeRegistrationFailed)
	}
	s.runWorker(t)
	s.audit(t)
}

// An order can wait in its own call, too, and keeps its receipt.
func TestOrderWaitsOverMCP(t *testing.T) {
	for name, approve := range map[string]bool{"approved": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			s := openEnv(t, options{})
			code, err := s.registry.Elsewhere(t.Context(), "moving.com")
			if err != nil {
				t.Fatal(err)
			}
			decide := sync.OnceFunc(func() {
				if err := s.registry.Decide(t.Context(), "moving.com", approve); err != nil {
					t.Error(err)
				}
			})
			s.enableMCP(func() { decide(); s.step(t) })
			got := s.agent(t).use(t, "transfer_domain", fmt.Sprintf(`{"domain":"moving.com","auth_code":%q,"wait_seconds":30}`, code.Reveal()), s.promise(s.buyer(t), comPrice).header(t))
			if got.Meta["x402/payment-response"] == nil {
				t.Error("there is no receipt")
			}
			if !approve {
				refusedWith(t, got, deed.CodeRegistrationFailed)
			} else if came := done[api.Registration](t, got); came.Domain != "moving.com" {
				t.Errorf("got %+v", came)
			}
		})
	}
}

// A node that stops does not go on waiting: the call returns the order as it is.
func TestStopEndsWaitOverMCP(t *testing.T) {
	s := openEnv(t, options{})
	code, err := s.registry.Elsewhere(t.Context(), "moving.com")
	if err != nil {
		t.Fatal(err)
	}
	pauses := 0 // of one call
	s.enableMCP(func() { pauses++; s.api.Drain() })
	order := fmt.Sprintf(`{"domain":"moving.com","auth_code":%q,"wait_seconds":30}`, code.Reveal())
	pending := done[api.PendingOrder](t, s.agent(t).use(t, "transfer_domain", order, s.promise(s.buyer(t), comPrice).header(t)))
	if pending.Status != "pending" || pending.JobID == "" || pauses != 1 {
		t.Errorf("got %+v after %d pauses, want a pending order after 1", pending, pauses)
	}
}
