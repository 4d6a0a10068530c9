package epp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp/epptest"
)

const name deed.Name = "hostile.com"

// uncoded fails when an error is final.
func uncoded(t *testing.T, err error) {
	t.Helper()
	if _, coded := errors.AsType[*deed.Error](err); coded {
		t.Errorf("got %v, want an error without a code or none", err)
	}
}

func wantCode(t *testing.T, err error, want deed.Code) {
	t.Helper()
	if got := deed.CodeOf(err); got != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// An operation is an order on a registry that is ready for it.
type operation struct {
	order   registrar.Order
	state   registrar.OrderState // when it is placed
	steps   []string             // the commands that buy something
	applied func() bool          // it has had its effect, once
}

// operations prepare the registry for each kind of order.
var operations = map[string]func(t *testing.T, e env, n deed.Name) operation{
	"register": func(t *testing.T, e env, n deed.Name) operation {
		return operation{
			order: registrar.Order{Kind: registrar.OrderRegister, Reference: "order-1", Name: n, Years: 2, Nameservers: []string{"ns1.example.net", "ns2.example.net"}, Submitted: e.Now()},
			state: registrar.OrderDone, steps: []string{"create"},
			applied: func() bool {
				h, err := e.registry.Holding(t.Context(), n)
				return err == nil && h.Expires.Equal(h.Created.AddDate(2, 0, 0))
			},
		}
	},
	"renew": func(t *testing.T, e env, n deed.Name) operation {
		from := e.bought(t, n)
		return operation{
			order: registrar.Order{Kind: registrar.OrderRenew, Reference: "order-2", Name: n, Years: 2, From: from, Submitted: e.Now()},
			state: registrar.OrderDone, steps: []string{"renew"},
			applied: func() bool {
				h, err := e.registry.Holding(t.Context(), n)
				return err == nil && h.Expires.Equal(from.AddDate(2, 0, 0))
			},
		}
	},
	"restore": func(t *testing.T, e env, n deed.Name) operation {
		from := e.bought(t, n)
		e.Advance(from.AddDate(0, 0, 46).Sub(e.Now()))
		return operation{
			order: registrar.Order{Kind: registrar.OrderRenew, Reference: "order-2", Name: n, Years: 1, From: from, Restore: true, Submitted: e.Now()},
			state: registrar.OrderDone, steps: []string{"restore request", "restore report", "renew"},
			applied: func() bool {
				h, err := e.registry.Holding(t.Context(), n)
				return err == nil && h.Expires.Equal(from.AddDate(1, 0, 0))
			},
		}
	},
	"transfer": func(t *testing.T, e env, n deed.Name) operation {
		code, err := e.registry.Elsewhere(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return operation{
			order: registrar.Order{Kind: registrar.OrderTransfer, Reference: "order-3", Name: n, Years: 1, AuthCode: code, Submitted: e.Now()},
			state: registrar.OrderPending, steps: []string{"transfer request"},
			applied: func() bool {
				e.Advance(6 * 24 * time.Hour)
				_, err := e.registry.Holding(t.Context(), n)
				return err == nil
			},
		}
	},
}

// bought registers the name and returns its expiry.
func (e env) bought(t *testing.T, n deed.Name) time.Time {
	t.Helper()
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "order-0", Name: n, Years: 1, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	h, err := e.Holding(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return h.Expires
}

// settle does what the service does after an order of unknown outcome: it looks the
// order up, and places it again if nothing is there.
func (e env) settle(t *testing.T, op operation) {
	t.Helper()
	for range 5 {
		st, err := e.Order(t.Context(), op.order)
		if err != nil {
			uncoded(t, err)
			continue
		}
		if st.State == op.state {
			return
		}
		uncoded(t, e.Place(t.Context(), op.order))
	}
	t.Errorf("the order did not come to an end")
}

// detectable reports whether the response to a command shows the fault: some have no
// name or no expiry in which something could be wrong.
func detectable(step string, kind epptest.Kind) bool {
	switch kind {
	case epptest.OtherName, epptest.EmptyLists:
		return !strings.HasPrefix(step, "restore")
	case epptest.OtherExpiry, epptest.OldExpiry, epptest.Empty:
		return step == "create" || step == "renew" || step == "info"
	}
	return true
}

// reporting is a registry that wants a report of each restore.
func reporting(s *epptest.Config, c *eppConfig) {
	s.RestoreReport, c.Profile.RestoreReport = true, true
}

// Every command of every order is cut before, in and after its frame, is answered
// with nonsense, or denied although it was executed. The outcome is then unknown or
// known to be good, never a refusal, and in the end the order had its effect once.
func TestFaultsInEveryStep(t *testing.T) {
	faults := append([]epptest.Kind{epptest.Deny}, append(epptest.Cuts, epptest.Nonsense...)...)
	count := 0
	for title, prepare := range operations {
		t.Run(title, func(t *testing.T) {
			e := open(t, reporting)
			for _, step := range prepare(t, e, name).steps {
				for _, kind := range faults {
					count++
					t.Run(fmt.Sprint(step, ", ", kind), func(t *testing.T) {
						op := prepare(t, e, deed.Name(fmt.Sprintf("fault-%d.com", count)))
						e.server.Break(epptest.Fault{Kind: kind, Code: 2400, Times: 1, Only: []string{step}})
						err := e.Place(t.Context(), op.order)
						uncoded(t, err)
						if err == nil && detectable(step, kind) {
							t.Error("the reply was believed")
						}
						e.settle(t, op)
						if !op.applied() {
							t.Error("the order did not have its effect exactly once")
						}
						if _, repeated := e.server.Commands(); repeated > 0 {
							t.Errorf("%d identifiers were used twice", repeated)
						}
					})
				}
			}
		})
	}
	t.Logf("%d faults", count)
}

// A lookup that is answered with nonsense says nothing: an order that is done is not
// absent, and one that is absent is not done.
func TestLookupsAnsweredWithNonsense(t *testing.T) {
	for title, prepare := range operations {
		t.Run(title, func(t *testing.T) {
			e := open(t, reporting)
			op := prepare(t, e, name)
			lookups := []string{"info", "transfer query"}
			try := func(kind epptest.Kind, want registrar.OrderState) {
				t.Helper()
				e.server.Break(epptest.Fault{Kind: kind, Code: 2400, Times: 1, Only: lookups})
				st, err := e.Order(t.Context(), op.order)
				uncoded(t, err)
				if err == nil && st.State != want {
					t.Errorf("%s: got %s, want %s or no answer", kind, st.State, want)
				}
				if err == nil && want == registrar.OrderDone && detectable("info", kind) {
					t.Errorf("%s: the reply was believed", kind)
				}
			}
			faults := append([]epptest.Kind{epptest.Refuse}, append(epptest.Cuts, epptest.Nonsense...)...)
			for _, kind := range faults {
				try(kind, registrar.OrderAbsent)
			}
			if err := e.Place(t.Context(), op.order); err != nil {
				t.Fatal(err)
			}
			for _, kind := range faults {
				try(kind, op.state)
			}
			if !op.applied() {
				t.Error("the order did not have its effect")
			}
		})
	}
}

// The other calls fail without a code too, and nothing that was not said is believed.
func TestChecksAnsweredWithNonsense(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	for _, kind := range append([]epptest.Kind{epptest.Refuse}, append(epptest.Cuts, epptest.Nonsense...)...) {
		broken := func(only ...string) {
			e.server.Break(epptest.Fault{Kind: kind, Code: 2400, Times: 1, Only: only})
		}
		broken("check")
		if a, err := e.Available(t.Context(), name); err == nil && a.Available {
			t.Errorf("%s: a name that is taken is available", kind)
		} else {
			uncoded(t, err)
		}
		broken("info")
		if h, err := e.Holding(t.Context(), name); err == nil && (h.Name != name || !h.Expires.Equal(start.AddDate(1, 0, 0))) {
			t.Errorf("%s: got %+v", kind, h)
		} else {
			uncoded(t, err)
		}
		broken("update")
		uncoded(t, e.SetLock(t.Context(), name, false))
		broken("poll req")
		_, err := e.NextMessage(t.Context(), nil)
		uncoded(t, err)
	}
}

// An invalid reply is logged once, and is a warning until a valid one comes.
func TestNonsenseIsReportedOnce(t *testing.T) {
	var errs recorder
	e := open(t, func(_ *epptest.Config, c *eppConfig) { c.Log = errs.logger() })
	e.server.Break(epptest.Fault{Kind: epptest.NotXML, Times: 20, Only: []string{"check"}})
	for range 20 {
		if _, err := e.Available(t.Context(), name); err == nil {
			t.Error("nonsense was believed")
		}
	}
	if n := errs.count(); n != 1 {
		t.Errorf("got %d lines, want 1", n)
	}
	if len(e.Warnings()) != 1 {
		t.Errorf("got %q, want one warning", e.Warnings())
	}
	if _, err := e.Available(t.Context(), name); err != nil {
		t.Error(err)
	}
	if w := e.Warnings(); len(w) > 0 {
		t.Errorf("got %q after a good reply", w)
	}
}
