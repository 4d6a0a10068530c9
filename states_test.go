package deed_test

import (
	"slices"
	"testing"

	"deed.example/deed"
)

// Money that has moved ends in one of two places, and nothing leaves an end.
func TestPaymentArrows(t *testing.T) {
	all := []deed.PaymentState{
		deed.PaymentAuthorized, deed.PaymentSettling, deed.PaymentSettled, deed.PaymentConsumed,
		deed.PaymentRefundDue, deed.PaymentRefunding, deed.PaymentRefunded, deed.PaymentVoid,
	}
	checkArrows(t, all, deed.PaymentState.MayBecome, map[deed.PaymentState][]deed.PaymentState{
		deed.PaymentAuthorized: {deed.PaymentConsumed, deed.PaymentRefunded, deed.PaymentVoid},
		deed.PaymentSettled:    {deed.PaymentConsumed, deed.PaymentRefunded},
		deed.PaymentRefundDue:  {deed.PaymentRefunded},
	})
}

// A job whose money came never ends as cancelled.
func TestJobArrows(t *testing.T) {
	all := []deed.JobState{
		deed.JobAwaitingPayment, deed.JobQueued, deed.JobSubmitting, deed.JobVerifying,
		deed.JobCompleted, deed.JobFailed, deed.JobCancelled,
	}
	checkArrows(t, all, deed.JobState.MayBecome, map[deed.JobState][]deed.JobState{
		deed.JobAwaitingPayment: {deed.JobCompleted, deed.JobFailed, deed.JobCancelled},
		deed.JobQueued:          {deed.JobCompleted, deed.JobFailed},
	})
}

// checkArrows walks every path of arrows and compares where each ends.
func checkArrows[S ~string](t *testing.T, all []S, may func(S, S) bool, ends map[S][]S) {
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
			t.Errorf("from %s: got the ends %v, want %v", from, got, want)
		}
	}
}
