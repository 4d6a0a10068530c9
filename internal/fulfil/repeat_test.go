package fulfil_test

import (
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A request with a known payment can be repeated any number of times and is not counted. So
// one that cannot be settled or refunded now costs no calls of the chain: the worker tries
// again, at growing intervals.
func TestRepeatedRequestsCallNoChain(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	e.chain.settle = settle.ErrUnsettleable
	repeat := func() (last error) {
		for range 50 {
			_, last = e.request(a, name(1))
		}
		return last
	}
	if err := repeat(); err != nil || e.state(a) != order.PaymentSettling || e.chain.settles != 1 {
		t.Errorf("stuck: got %v, %s after %d calls", err, e.state(a), e.chain.settles)
	}
	e.chain.settle, e.chain.refund = nil, errors.New("the refund would fail now")
	e.kind.advance = e.kind.fail
	e.now = e.now.Add(10 * time.Second)
	e.advance()
	if _, err := e.request(a, name(1)); deed.CodeOf(err) != deed.CodeRegistrationFailed {
		t.Fatalf("got %v", err)
	}
	e.advance()
	tried := len(e.chain.refunds)
	if err := repeat(); deed.CodeOf(err) != deed.CodeRegistrationFailed || e.state(a) != order.PaymentRefunding || tried == 0 || len(e.chain.refunds) != tried {
		t.Errorf("refunding: got %v, %s after %d calls, and %d before", err, e.state(a), len(e.chain.refunds), tried)
	}
}
