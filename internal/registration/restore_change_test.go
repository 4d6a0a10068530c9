package registration_test

import (
	"context"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/settle"
)

// changeOn is a chain on which this amount was refunded as the change of a mandate.
type changeOn struct {
	refundedOn
	change deed.USDC
}

func (c changeOn) RefundedAmount(_ context.Context, r settle.Refund) (deed.USDC, error) {
	if r.Label != string(order.RefundChange) {
		return 0, nil
	}
	return c.change, nil
}

// The change of a mandate that was refunded before the restore tells the price of the
// renewal, whatever it costs today: the chain has a refund of that amount and no other.
func TestFinishRestoreOfAMandateWithChange(t *testing.T) {
	for name, tt := range map[string]struct {
		change deed.USDC
		fails  bool
	}{"another price": {change: 200 * deed.Cent}, "all of it": {change: mandateCap, fails: true}, "no amount": {change: -1, fails: true}} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			_, held, err := e.register("kept.com", "0x0c")
			if err != nil {
				t.Fatal(err)
			}
			e.giveMandate(held, "0x0d")
			lost := e.loseAmount("0x0d", mandateCap)
			placed := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(lost), 1), Name: "kept.com", Years: 1, From: held.Expires}
			if err := e.registry.Place(t.Context(), placed); err != nil {
				t.Fatal(err)
			}
			restore := e.restore()
			restore.Chain = changeOn{change: tt.change}
			if _, err := restore.Finish(t.Context(), false); (err != nil) != tt.fails {
				t.Fatalf("got %v", err)
			}
			if tt.fails {
				if p, err := e.payments.Payment(t.Context(), lost); err != nil || p.State != order.PaymentUnclaimed {
					t.Errorf("got %+v, %v", p, err)
				}
				return
			}
			if err := e.engine.AdvanceJob(t.Context(), order.JobID(lost)); err != nil {
				t.Fatal(err)
			}
			p, err := e.payments.Payment(t.Context(), lost)
			if err != nil || p.State != order.PaymentRefundDue || p.Part.Amount != tt.change || p.Part.Label != order.RefundChange {
				t.Errorf("got %+v, %v", p, err)
			}
		})
	}
}
