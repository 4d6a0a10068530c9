package order_test

import (
	"slices"
	"testing"

	"deed.example/deed/internal/order"
)

// A settled payment ends as consumed or refunded, and final states are final. Only a
// part of what was consumed can be refunded.
func TestPaymentTransitions(t *testing.T) {
	all := []order.PaymentState{
		order.PaymentAuthorized, order.PaymentSettling, order.PaymentSettled, order.PaymentConsumed,
		order.PaymentRefundDue, order.PaymentRefunding, order.PaymentRefunded, order.PaymentVoid,
	}
	checkTransitions(t, all, order.PaymentState.CanBecome, map[order.PaymentState][]order.PaymentState{
		order.PaymentAuthorized: {order.PaymentRefunded, order.PaymentVoid},
		order.PaymentSettled:    {order.PaymentRefunded},
		order.PaymentRefundDue:  {order.PaymentRefunded},
	})
	for _, to := range all {
		if got := order.PaymentConsumed.CanBecome(to); got != (to == order.PaymentRefundDue) {
			t.Errorf("from consumed to %s: got %t", to, got)
		}
	}
}

// A job whose payment has settled never ends as cancelled.
func TestJobTransitions(t *testing.T) {
	all := []order.JobState{
		order.JobAwaitingPayment, order.JobQueued, order.JobSubmitting, order.JobVerifying,
		order.JobCompleted, order.JobFailed, order.JobCancelled,
	}
	checkTransitions(t, all, order.JobState.CanBecome, map[order.JobState][]order.JobState{
		order.JobAwaitingPayment: {order.JobCompleted, order.JobFailed, order.JobCancelled},
		order.JobQueued:          {order.JobCompleted, order.JobFailed},
	})
}

// checkTransitions walks every path of transitions and compares the final states.
func checkTransitions[S ~string](t *testing.T, all []S, may func(S, S) bool, ends map[S][]S) {
	t.Helper()
	for from, want := range ends {
		var got []S
		seen := map[S]bool{}
		var walk func(S)
		walk = func(s S) {
			if seen[s] {
				return
			}
			seen[s] = true
			last := true
			for _, next := range all {
				if may(s, next) {
					last = false
					walk(next)
				}
			}
			if last {
				got = append(got, s)
			}
		}
		walk(from)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("from %s: got final states %v, want %v", from, got, want)
		}
	}
}
