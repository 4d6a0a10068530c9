package fulfil_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/lifecycle"
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

// Nor does it advance an order that waits before its time has come, or make visible again what
// was delivered a while ago.
func TestRepeatedRequestsCostLittle(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	repeat := func(want order.JobState, advanced, delivered int) {
		t.Helper()
		for range 20 {
			if out, err := e.request(a, name(1)); err != nil || out.Job.State != want {
				t.Fatalf("got %s, %v, want %s", out.Job.State, err, want)
			}
		}
		if e.kind.advanced != advanced || e.kind.delivered != delivered {
			t.Errorf("%s: got %d steps and %d deliveries, want %d and %d", want, e.kind.advanced, e.kind.delivered, advanced, delivered)
		}
	}
	e.kind.advance = func(ctx context.Context, j order.Job) error {
		if j.State == order.JobQueued {
			j.Attempts, j.Reference = 1, order.OrderReference(j.ID, 1)
			if _, err := e.jobs.MoveJob(ctx, j, order.JobSubmitting, e.now); err != nil {
				return err
			}
			j.State = order.JobSubmitting
		}
		_, err := e.jobs.MoveJob(ctx, j, order.JobVerifying, e.now.Add(time.Minute))
		return err
	}
	repeat(order.JobVerifying, 1, 0)
	e.now = e.now.Add(59 * time.Second)
	repeat(order.JobVerifying, 1, 0)
	e.now = e.now.Add(time.Second)
	repeat(order.JobVerifying, 2, 0)
	e.kind.advance = func(ctx context.Context, j order.Job) error {
		return e.jobs.CompleteJob(ctx, j, lifecycle.Registration{
			Name: "name1.com", Owner: payer, Status: lifecycle.StatusActive, Reference: "1", PaymentID: j.PaymentID, Created: e.now, Expires: e.now.AddDate(1, 0, 0),
		})
	}
	e.now = e.now.Add(time.Minute)
	repeat(order.JobCompleted, 3, 20)
	e.now = e.now.Add(time.Minute)
	repeat(order.JobCompleted, 3, 20)
}

// Each request with an alias asks the chain whether it was used, once the payment that it is an
// alias of has ended unpaid. So it is counted from then on.
func TestAliasOfAnEndedPaymentIsNotKnown(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = errors.New("not mined yet")
	a, alias := authorization("1"), authorization("2")
	for _, one := range []*settle.Authorization{a, alias} {
		if _, err := e.request(one, name(1)); err != nil {
			t.Fatal(err)
		}
		if known, err := e.Known(t.Context(), one); known != fulfil.Accepted || err != nil {
			t.Errorf("open: got %d, %v", known, err)
		}
	}
	forged := *alias
	forged.Signature = []byte("another")
	if known, err := e.Known(t.Context(), &forged); known != fulfil.Rejected || err != nil {
		t.Errorf("with another signature: got %d, %v", known, err)
	}
	e.chain.settle = deed.Errorf(deed.CodePaymentInvalid, "it has expired")
	if _, err := e.request(a, name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid {
		t.Fatal(err)
	}
	checked := len(e.chain.checked)
	if _, err := e.request(alias, name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid || len(e.chain.checked) != checked+1 {
		t.Errorf("got %v after %d checks", err, len(e.chain.checked)-checked)
	}
	if known, err := e.Known(t.Context(), alias); known != fulfil.Rejected || err != nil {
		t.Errorf("ended: got %d, %v", known, err)
	}
}
