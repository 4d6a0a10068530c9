package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
)

// Several processes find at the same time that a transfer is done. One completes its job, and
// the others see that and do not fail.
func TestJobCompletedByMany(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for round := range 8 {
			domain := fmt.Sprintf("moving%d.com", round)
			there, err := s.registry.Elsewhere(t.Context(), deed.Name(domain))
			if err != nil {
				t.Fatal(err)
			}
			s.pass(t, 61*day)
			s.transfer(t, domain, there.Reveal(), s.promise(s.buyer(t), s.transferPrice(t)).header(t)).expect(t, 202, "")
			s.clock.advance(5*day + 1)
			due, err := s.api.Payments.DueJobs(t.Context(), 10)
			if err != nil || len(due) != 1 {
				t.Fatalf("got %v, %v", due, err)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if err := s.api.Payments.AdvanceJob(t.Context(), due[0]); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			s.get(t, "/domains/"+domain).expect(t, 200, "")
		}
		s.audit(t)
	})
}
