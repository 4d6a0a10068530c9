package fulfil_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// scriptedKind is an order.Kind that does what a test has set. It delivers nothing by
// itself.
type scriptedKind struct {
	jobs      sqldb.Jobs
	quoteErr  error
	more      deed.USDC // than price
	meanwhile func()    // runs while the request is quoted
	advance   func(ctx context.Context, j order.Job) error
	quoted    int
	advanced  int
	delivered int
}

func (k *scriptedKind) Sells() []order.PurchaseKind {
	return []order.PurchaseKind{order.PurchaseRegistration, order.PurchaseDNSAdd}
}

func (k *scriptedKind) Complete(p order.Purchase) order.Purchase {
	if p.Kind == order.PurchaseRegistration && p.Years == 0 {
		p.Years = 1
	}
	return p
}

func (k *scriptedKind) Quote(_ context.Context, r order.Request) (order.Quote, order.Purchase, error) {
	k.quoted++
	if k.meanwhile != nil {
		k.meanwhile()
	}
	return order.Quote{Amount: price + k.more, For: string(r.Name)}, r.Purchase, k.quoteErr
}

func (k *scriptedKind) Advance(ctx context.Context, j order.Job) error {
	k.advanced++
	if k.advance == nil {
		return nil
	}
	return k.advance(ctx, j)
}

func (k *scriptedKind) Delivered(context.Context, order.Job) { k.delivered++ }

// fail ends the job without a delivery.
func (k *scriptedKind) fail(ctx context.Context, j order.Job) error {
	j.Failure = "it is sold out"
	return k.jobs.FailJob(ctx, j)
}

var change = order.PurchaseOf(dnszone.Change{
	Kind: dnszone.ChangeAdd, Zone: "name1.com", By: payer, Ops: []dnszone.RecordOp{{Op: dnszone.OpAdd, Record: dnszone.Record{Type: "A", Host: "@", Value: "192.0.2.1", TTL: 60}}},
})

func (e *env) request(a *settle.Authorization, what order.Purchase) (order.Outcome, error) {
	return e.Buy(e.t.Context(), order.Request{Purchase: what}, e.Checkout(a, "", false))
}

// Each kind of purchase that cannot be delivered is refunded, its buyer gets the code
// of that kind, and so does everyone who repeats the request.
func TestUndeliveredIsRefunded(t *testing.T) {
	for want, what := range map[deed.Code]order.Purchase{deed.CodeRegistrationFailed: name(1), deed.CodeDNS: change} {
		t.Run(string(want), func(t *testing.T) {
			e := newEnv(t)
			e.kind.advance = e.kind.fail
			a := authorization("1")
			for range 2 {
				out, err := e.request(a, what)
				if deed.CodeOf(err) != want || out.Job.State != order.JobFailed {
					t.Errorf("got %s, %v", out.Job.State, err)
				}
			}
			e.advance()
			if got := e.state(a); got != order.PaymentRefunded || e.kind.advanced != 1 || len(e.chain.refunds) != 1 || e.kind.delivered != 0 {
				t.Errorf("got %s after %d steps and %d refunds", got, e.kind.advanced, len(e.chain.refunds))
			}
		})
	}
}

// What cannot be advanced now is left to the worker: an order can be polled, and the
// request for a change must be repeated with the same payment.
func TestUnfinished(t *testing.T) {
	down := errors.New("no answer")
	for _, what := range []order.Purchase{name(1), change} {
		t.Run(string(what.Kind), func(t *testing.T) {
			e := newEnv(t)
			e.kind.advance = func(context.Context, order.Job) error { return down }
			a := authorization("1")
			out, err := e.request(a, what)
			if out.Job.State != order.JobQueued || errors.Is(err, order.ErrPending) == what.Kind.Polled() {
				t.Fatalf("got %s, %v", out.Job.State, err)
			}
			if err := e.AdvanceJob(t.Context(), out.Job.ID); !errors.Is(err, down) {
				t.Errorf("the worker: got %v", err)
			}
			e.kind.advance = e.kind.fail
			if err := e.AdvanceJob(t.Context(), out.Job.ID); err != nil {
				t.Error(err)
			}
			if got := e.state(a); got != order.PaymentRefundDue {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A request for a change waits for its payment as long as Pause allows; an order does
// not, since its job can be polled.
func TestAwaitPayment(t *testing.T) {
	for _, what := range []order.Purchase{name(1), change} {
		t.Run(string(what.Kind), func(t *testing.T) {
			e := newEnv(t)
			e.chain.settle = errors.New("not mined yet")
			pauses := 0
			e.Pause = func(context.Context, order.Job) bool {
				if pauses++; pauses == 3 {
					e.chain.settle = nil
				}
				return pauses <= 3
			}
			e.kind.advance = e.kind.fail
			out, err := e.request(authorization("1"), what)
			if what.Kind.Polled() {
				if out.Job.State != order.JobAwaitingPayment || err != nil || pauses != 0 {
					t.Errorf("got %s, %v after %d pauses", out.Job.State, err, pauses)
				}
				return
			}
			if out.Job.State != order.JobFailed || deed.CodeOf(err) != deed.CodeDNS || pauses != 3 {
				t.Errorf("got %s, %v after %d pauses", out.Job.State, err, pauses)
			}
		})
	}
}

// While another process works on a job, the request waits for its end.
func TestAwaitAnotherProcess(t *testing.T) {
	e := newEnv(t)
	e.Pause = func(ctx context.Context, j order.Job) bool {
		if err := e.kind.fail(ctx, j); err != nil {
			t.Error(err)
		}
		return true
	}
	out, err := e.request(authorization("1"), name(1))
	if out.Job.State != order.JobFailed || deed.CodeOf(err) != deed.CodeRegistrationFailed || e.kind.advanced != 1 {
		t.Errorf("got %s, %v after %d steps", out.Job.State, err, e.kind.advanced)
	}
}

// A refused payment is answered with what its caller can do: a void one with a new
// price, one that was given for something else with the job it bought.
func TestRefusedPayment(t *testing.T) {
	e := newEnv(t)
	e.chain.settle = deed.Errorf(deed.CodePaymentInvalid, "it has expired")
	a := authorization("1")
	for range 2 {
		out, err := e.request(a, name(1))
		if deed.CodeOf(err) != deed.CodePaymentInvalid || out.Quote.Amount != price || out.Job.ID != "" {
			t.Errorf("void: got %+v, %v", out, err)
		}
	}
	e.chain.settle = nil
	b := authorization("2")
	first, err := e.request(b, name(2))
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.request(b, name(3))
	if deed.CodeOf(err) != deed.CodePaymentInvalid || out.Quote.Amount != 0 || out.Job.ID != first.Job.ID {
		t.Errorf("given for something else: got %+v, %v", out, err)
	}
}

// When the same payment comes twice at once and the other request was faster, its
// job is the answer, even though the request could not be quoted any more.
func TestSlowerRequestGetsTheSameJob(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	var faster order.Outcome
	e.kind.meanwhile = func() {
		e.kind.meanwhile = nil
		var err error
		if faster, err = e.request(a, name(1)); err != nil {
			t.Error(err)
		}
		e.kind.quoteErr = deed.Errorf(deed.CodeDomainUnavailable, "name1.com is taken")
	}
	out, err := e.request(a, name(1))
	if err != nil || out.Job.ID == "" || out.Job.ID != faster.Job.ID {
		t.Errorf("got %s, %v, want %s", out.Job.ID, err, faster.Job.ID)
	}
}

// What was left out is completed before the payment is bound to the purchase.
func TestCompleteFirst(t *testing.T) {
	e := newEnv(t)
	a, short := authorization("1"), name(1)
	short.Years = 0
	first, err := e.request(a, short)
	if err != nil || first.Job.Purchase.Years != 1 {
		t.Fatalf("got %+v, %v", first, err)
	}
	if again, err := e.request(a, name(1)); err != nil || again.Job.ID != first.Job.ID {
		t.Errorf("got %s, %v, want %s", again.Job.ID, err, first.Job.ID)
	}
}

// A kind that nobody sells costs nothing, and its job is left as it is.
func TestUnknownKind(t *testing.T) {
	e := newEnv(t)
	if _, err := e.request(authorization("1"), order.Purchase{Kind: order.PurchaseTransfer, Name: "name1.com", Years: 1}); err == nil {
		t.Error("it was sold")
	}
	out, err := e.request(authorization("2"), name(1))
	if err != nil {
		t.Fatal(err)
	}
	e.Kinds = nil
	if err := e.AdvanceJob(t.Context(), out.Job.ID); err == nil {
		t.Error("it was advanced")
	}
	if j, err := e.jobs.Job(t.Context(), out.Job.ID); err != nil || j.State != order.JobQueued || !j.Deadline.Equal(e.now.Add(order.JobDeadline).Truncate(time.Second)) {
		t.Errorf("got %+v, %v", j, err)
	}
}

// Somebody signs again for an order whose first payment is open. When the first one
// ends unpaid and the second was used on the chain by a third party, its payer is not
// asked to pay a third time.
func TestAliasThatWasPaid(t *testing.T) {
	for state, tt := range map[string]struct {
		check   error
		pending bool
	}{
		"used on the chain": {settle.ErrAlreadyPaid, true},
		"unknown":           {errors.New("no answer"), true},
		"unused":            {nil, false},
		"expired":           {deed.Errorf(deed.CodePaymentInvalid, "it has expired"), false},
	} {
		t.Run(state, func(t *testing.T) {
			e := newEnv(t)
			e.chain.settle = errors.New("not mined yet")
			if _, err := e.request(authorization("1"), name(1)); err != nil {
				t.Fatal(err)
			}
			second := authorization("2")
			if _, err := e.request(second, name(1)); err != nil {
				t.Fatal(err)
			}
			e.chain.check, e.chain.settle = tt.check, deed.Errorf(deed.CodePaymentInvalid, "it has expired")
			out, err := e.request(second, name(1))
			if errors.Is(err, order.ErrPending) != tt.pending || !tt.pending && (deed.CodeOf(err) != deed.CodePaymentInvalid || out.Quote.Amount != price) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
}

// An authorization that bought something and comes with a signature that we do not
// have, as after a restore, is not offered another payment, whatever the price is now.
func TestKnownAuthorizationAfterPriceChange(t *testing.T) {
	e := newEnv(t)
	a := authorization("1")
	if _, err := e.request(a, name(1)); err != nil {
		t.Fatal(err)
	}
	again := *a
	again.Signature = []byte("another")
	e.kind.more = deed.Cent
	if _, err := e.request(&again, name(1)); deed.CodeOf(err) != deed.CodePaymentInvalid || !errors.Is(err, order.ErrNoOffer) {
		t.Errorf("got %v", err)
	}
	if out, err := e.request(authorization("2"), name(2)); deed.CodeOf(err) != deed.CodePaymentInvalid || errors.Is(err, order.ErrNoOffer) || out.Quote.Amount != price+deed.Cent {
		t.Errorf("a new one of the old price: got %+v, %v", out, err)
	}
}
