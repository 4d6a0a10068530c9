package client

import (
	"testing"
	"time"
)

// A payment that the service does not take for the moment is sent less than ten times while
// it is good, because ten orders a day are allowed, of which the first asked for the price.
func TestPausesOfARefusedPayment(t *testing.T) {
	for _, after := range []time.Duration{0, 2 * time.Second, time.Minute, time.Hour} {
		sent, last := 0, time.Duration(0)
		for passed := time.Duration(0); passed < 290*time.Second; passed += last {
			sent++
			last = nextPause(last, &Error{Code: CodeUnavailable, RetryAfter: after}, false)
		}
		if sent > 9 || last > maxRetryAfter {
			t.Errorf("after %s: sent %d times, the last after %s", after, sent, last)
		}
	}
	for said, want := range map[*Error]time.Duration{nil: maxPause, {}: maxPause, {RetryAfter: 7 * time.Second}: 7 * time.Second} {
		if got := nextPause(time.Hour, said, true); got != want {
			t.Errorf("%v: got %s, want %s", said, got, want)
		}
	}
}
