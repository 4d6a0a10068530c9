package operator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
	"deed.example/deed/internal/order"
)

// records are the rows behind a service: what can be found, and what was done, in order.
type records struct {
	found  []operator.Found
	query  string
	done   []string
	logged []operator.Action

	dust    int   // transfers
	placed  bool  // an order that was queued is at a registrar by now
	missing error // of a name or a delivery that is not there
	failing error // of what is done
	full    error // of the log
}

func (r *records) Find(_ context.Context, query string, _ int) ([]operator.Found, error) {
	r.query = query
	return r.found, nil
}

func (r *records) Timeline(context.Context, operator.Found) ([]operator.Entry, error) {
	return []operator.Entry{{What: "settled"}}, nil
}

func (r *records) Record(_ context.Context, a operator.Action) error {
	if r.full != nil {
		return r.full
	}
	r.logged = append(r.logged, a)
	r.done = append(r.done, "log "+a.Outcome)
	return nil
}

func (r *records) Actions(_ context.Context, limit int) ([]operator.Action, error) {
	return r.logged[:min(limit, len(r.logged))], nil
}

func (r *records) do(what string) error {
	r.done = append(r.done, what)
	return r.failing
}

func (r *records) Wake(context.Context, operator.Found) error   { return r.do("wake") }
func (r *records) Refund(context.Context, operator.Found) error { return r.do("refund") }

func (r *records) Dust(context.Context, deed.Wallet) (int, deed.USDC, error) {
	return r.dust, deed.USDC(r.dust) * deed.Cent, nil
}

func (r *records) RefundDust(_ context.Context, w deed.Wallet) error {
	return r.do("refund the dust of " + string(w))
}

func (r *records) FailQueued(context.Context, operator.Found) (bool, error) {
	return !r.placed, r.do("fail the job")
}

func (r *records) Registered(context.Context, deed.Name) error { return r.missing }

func (r *records) SetSuspended(_ context.Context, name deed.Name, on bool, _ string) error {
	return r.do(onOff("suspend "+string(name), on))
}

func (r *records) SetBlocked(_ context.Context, w deed.Wallet, on bool, _ string) error {
	return r.do(onOff("block "+string(w), on))
}

func (r *records) SetStopped(_ context.Context, activity string, on bool, _ string) error {
	return r.do(onOff("stop "+activity, on))
}

func onOff(what string, on bool) string {
	if on {
		return what
	}
	return what + " no more"
}

// service returns a service over the rows.
func (r *records) service() *operator.Service {
	return &operator.Service{
		Finder: r, Log: r, Rows: r, Rules: r, Now: time.Now,
		Release:    func(_ context.Context, id string) error { return r.do("release " + id) },
		Replay:     func(_ context.Context, webhook, event string) error { return r.do("replay " + webhook + " " + event) },
		Replayable: func(context.Context, string, string) error { return r.missing },
		Changed:    func(context.Context) error { return nil },
	}
}

const wallet = "0x00000000000000000000000000000000000000aa"

var because = operator.Act{Operator: "ann", Reason: "a test"}

// actions are all that operators can do, on an order in the state that each needs.
var actions = map[string]struct {
	payment order.PaymentState
	job     order.JobState
	do      func(s *operator.Service, a operator.Act) (string, error)
	does    string
}{
	"retry": {order.PaymentSettling, "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Retry(context.Background(), a, "pay_1")
	}, "wake"},
	"refund what nobody asked for": {order.PaymentUnclaimed, "", refund, "refund"},
	"refund dust":                  {order.PaymentDust, "", refund, "refund"},
	"refund what was not placed":   {order.PaymentSettled, order.JobQueued, refund, "fail the job"},
	"refund all dust": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.RefundDust(context.Background(), a, wallet)
	}, "refund the dust of " + wallet},
	"release": {order.PaymentSettling, "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.ReleaseOrder(context.Background(), a, "pay_1")
	}, "release internal"},
	"replay": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.ReplayWebhook(context.Background(), a, "wh_1", "evt_1")
	}, "replay wh_1 evt_1"},
	"stop": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Stop(context.Background(), a, operator.Refunds, true)
	}, "stop refunds"},
	"start": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Stop(context.Background(), a, operator.Refunds, false)
	}, "stop refunds no more"},
	"block": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Block(context.Background(), a, wallet, true)
	}, "block " + wallet},
	"suspend": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Suspend(context.Background(), a, "Name.COM", true)
	}, "suspend name.com"},
	"unsuspend": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Suspend(context.Background(), a, "name.com", false)
	}, "suspend name.com no more"},
	"unblock": {"", "", func(s *operator.Service, a operator.Act) (string, error) {
		return s.Block(context.Background(), a, wallet, false)
	}, "block " + wallet + " no more"},
}

func refund(s *operator.Service, a operator.Act) (string, error) {
	return s.Refund(context.Background(), a, "pay_1")
}

func rowsIn(payment order.PaymentState, job order.JobState) *records {
	return &records{dust: 2, found: []operator.Found{{PaymentID: "pay_1", Internal: "internal", PaymentState: payment, JobState: job, Wallet: wallet, Amount: deed.Cent}}}
}

// An act is written down before it is done. A dry run, an act without a reason and one
// that cannot be written down do nothing; one that fails is written down as failed.
func TestActsAreRecordedFirst(t *testing.T) {
	for name, tt := range actions {
		t.Run(name, func(t *testing.T) {
			r := rowsIn(tt.payment, tt.job)
			if out, err := tt.do(r.service(), because); err != nil || out == "" || !slices.Equal(r.done, []string{"log accepted", tt.does}) {
				t.Errorf("got %q, %v: %q", out, err, r.done)
			}
			if a := r.logged[0]; a.Operator != "ann" || a.Reason != "a test" || a.Action == "" || a.Target == "" || a.At.IsZero() {
				t.Errorf("wrote %+v", a)
			}

			r = rowsIn(tt.payment, tt.job)
			dry := because
			dry.DryRun = true
			if out, err := tt.do(r.service(), dry); err != nil || !strings.HasPrefix(out, "dry run: ") || len(r.done) != 0 {
				t.Errorf("a dry run: got %q, %v: %q", out, err, r.done)
			}

			for _, a := range []operator.Act{{Operator: "ann", Reason: " "}, {Reason: "a test"}} {
				r = rowsIn(tt.payment, tt.job)
				if _, err := tt.do(r.service(), a); deed.CodeOf(err) != deed.CodeValidation || len(r.done) != 0 {
					t.Errorf("%+v: got %v: %q", a, err, r.done)
				}
			}

			r = rowsIn(tt.payment, tt.job)
			r.full = errors.New("the disk is full")
			if _, err := tt.do(r.service(), because); !errors.Is(err, r.full) || len(r.done) != 0 {
				t.Errorf("without a log: got %v: %q", err, r.done)
			}

			r = rowsIn(tt.payment, tt.job)
			r.failing = errors.New("it is gone")
			if _, err := tt.do(r.service(), because); !errors.Is(err, r.failing) || !slices.Equal(r.done, []string{"log accepted", tt.does, "log failed: it is gone"}) {
				t.Errorf("a failure: got %v: %q", err, r.done)
			}
		})
	}
}

// What cannot be done is refused before it is written down, with what to do instead.
func TestRefusedActs(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		payment order.PaymentState
		job     order.JobState
		do      func(s *operator.Service) (string, error)
		says    string
	}{
		"retry what has ended":              {order.PaymentConsumed, order.JobCompleted, func(s *operator.Service) (string, error) { return s.Retry(ctx, because, "pay_1") }, "nothing to try again"},
		"retry what came without a request": {order.PaymentUnclaimed, "", func(s *operator.Service) (string, error) { return s.Retry(ctx, because, "pay_1") }, "refund it (refund pay_1)"},
		"refund dust of nobody":             {"", "", func(s *operator.Service) (string, error) { return s.RefundDust(ctx, because, "nobody") }, "wallet"},
		"refund what is at a registrar": {order.PaymentSettled, order.JobSubmitting, func(s *operator.Service) (string, error) {
			return s.Refund(ctx, because, "pay_1")
		}, "ends by itself"},
		"refund what was delivered": {order.PaymentConsumed, order.JobCompleted, func(s *operator.Service) (string, error) {
			return s.Refund(ctx, because, "pay_1")
		}, "nothing to refund"},
		"release what is paid": {order.PaymentSettled, order.JobQueued, func(s *operator.Service) (string, error) {
			return s.ReleaseOrder(ctx, because, "pay_1")
		}, "only a payment that waits"},
		"stop something else": {"", "", func(s *operator.Service) (string, error) { return s.Stop(ctx, because, "sales", true) }, "purchases, refunds, publishing"},
		"block no wallet":     {"", "", func(s *operator.Service) (string, error) { return s.Block(ctx, because, "0x1", true) }, ""},
		"suspend no name":     {"", "", func(s *operator.Service) (string, error) { return s.Suspend(ctx, because, "no name", true) }, ""},
	} {
		r := rowsIn(tt.payment, tt.job)
		out, err := tt.do(r.service())
		if err == nil || out != "" || len(r.done) != 0 || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %q, %v: %q", name, out, err, r.done)
		}
	}
}

// A name or a delivery that is not there is refused before anything is written down, in a
// dry run as well.
func TestActsOnWhatIsMissing(t *testing.T) {
	for _, name := range []string{"suspend", "unsuspend", "replay"} {
		for _, dry := range []bool{true, false} {
			r := &records{missing: deed.Errorf(deed.CodeNotFound, "there is none")}
			a := because
			a.DryRun = dry
			if out, err := actions[name].do(r.service(), a); !errors.Is(err, r.missing) || out != "" || len(r.done) != 0 {
				t.Errorf("%s, dry run %v: got %q, %v: %q", name, dry, out, err, r.done)
			}
		}
	}
}

// An order that reaches a registrar between the query and the refund is not refunded.
func TestRefundOfWhatWasPlacedMeanwhile(t *testing.T) {
	r := rowsIn(order.PaymentSettled, order.JobQueued)
	r.placed = true
	if _, err := refund(r.service(), because); deed.CodeOf(err) != deed.CodeValidation || !strings.HasPrefix(r.done[len(r.done)-1], "log failed: ") {
		t.Errorf("got %v: %q", err, r.done)
	}
}

// A query must be about something, and an act about one order.
func TestQueries(t *testing.T) {
	r := &records{}
	s := r.service()
	if _, err := s.Find(t.Context(), "  "); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("an empty query: got %v", err)
	}
	if _, _, err := s.Timeline(t.Context(), " Name.COM "); deed.CodeOf(err) != deed.CodeNotFound || r.query != "name.com" {
		t.Errorf("nothing found: got %v for %q", err, r.query)
	}
	r.found = make([]operator.Found, 2)
	if _, _, err := s.Timeline(t.Context(), "name.com"); deed.CodeOf(err) != deed.CodeValidation || !strings.Contains(err.Error(), "2 orders match") {
		t.Errorf("two found: got %v", err)
	}
	r.found = r.found[:1]
	if _, entries, err := s.Timeline(t.Context(), "name.com"); err != nil || len(entries) != 1 {
		t.Errorf("one found: got %v, %v", entries, err)
	}
}
