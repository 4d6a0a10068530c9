package registration_test

import (
	"context"
	"testing"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// stateRegistrar recognises renewals by the state of the name, and finds no orders by their
// reference.
type stateRegistrar struct {
	registrar.Registrar
	registrar.Manager
}

func (s stateRegistrar) Order(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	h, err := s.Holding(ctx, o.Name)
	if err != nil || o.From.IsZero() || !h.Expires.Equal(o.From.AddDate(o.Years, 0, 0)) {
		return registrar.OrderStatus{State: registrar.OrderAbsent}, err
	}
	return registrar.OrderStatus{State: registrar.OrderDone, Created: h.Created, Expires: h.Expires}, nil
}

// A lost renewal by a mandate in the backup is found at a registrar that cannot search, by the
// year that the name has got: it is delivered, also when the name is compared meanwhile, and the
// owner gets back what it did not cost. One that was not executed is left to an operator.
func TestFinishRestoreOfAMandateWithoutSearch(t *testing.T) {
	for title, executed := range map[string]bool{"executed": true, "not executed": false} {
		t.Run(title, func(t *testing.T) {
			e := newEnv(t)
			_, held, err := e.register("kept.com", "0x0c")
			if err != nil {
				t.Fatal(err)
			}
			e.giveMandate(held, "0x0d")
			lost := e.loseAmount("0x0d", mandateCap)
			if executed {
				if err := e.registry.Place(t.Context(), registrar.Order{Kind: registrar.OrderRenew, Reference: "lost", Name: "kept.com", Years: 1, From: held.Expires}); err != nil {
					t.Fatal(err)
				}
			}
			outside := stateRegistrar{e.registry, e.registry}
			router, err := registrar.NewRouter(e.names, registrar.Backend{Name: "outside", Rest: true, Registrar: outside, Manager: e.registry})
			if err != nil {
				t.Fatal(err)
			}
			restore := e.restore()
			restore.Orders, restore.Lookup, e.Registrar = router, router, router
			all, err := restore.Finish(t.Context(), false)
			if err != nil || len(all) != 1 || (all[0].Undecided == "") != executed {
				t.Fatalf("got %+v, %v", all, err)
			}
			if !executed {
				return
			}
			e.compare("kept.com")
			if err := e.engine.AdvanceJob(t.Context(), order.JobID(lost)); err != nil {
				t.Fatal(err)
			}
			p, err := e.payments.Payment(t.Context(), lost)
			if err != nil || p.State != order.PaymentRefundDue || p.Part.Label != order.RefundChange {
				t.Errorf("got %+v, %v", p, err)
			}
			if r, err := e.names.Registration(t.Context(), "kept.com"); err != nil || !r.Expires.Equal(held.Expires.AddDate(1, 0, 0)) {
				t.Errorf("got %s, %v", r.Expires, err)
			}
			if m, err := e.mandates.List(t.Context(), payer, "kept.com"); err != nil || len(m) != 1 || m[0].State != order.MandateUsed {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}
