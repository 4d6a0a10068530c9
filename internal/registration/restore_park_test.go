package registration_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// orphan stores a transfer that arrived without a request and is refunded in five
// minutes, and returns its payment's ID.
func (e *env) orphan(nonce string) string {
	e.t.Helper()
	transfer := settle.Transfer{Payer: payer, PayTo: "0x02", Nonce: nonce, Amount: 1306 * deed.Cent, TxHash: "0xorphan" + nonce}
	if err := e.payments.Adopt(e.t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: e.now.Add(5 * time.Minute)}); err != nil {
		e.t.Fatal(err)
	}
	return settle.Authorization{Payer: payer, Nonce: nonce}.PaymentID(1, "")
}

// due reports whether the service would refund the payment now.
func (e *env) due(id string) bool {
	e.t.Helper()
	due, err := e.payments.DueRefunds(e.t.Context(), 10)
	if err != nil {
		e.t.Fatal(err)
	}
	return slices.Contains(due, id)
}

// unreadable is a chain that does not answer.
type unreadable struct{ refundedOn }

func (unreadable) Refunded(context.Context, settle.Refund) (bool, error) {
	return false, errors.New("the endpoint is down")
}

// A transfer that was unclaimed in the backup may have bought a name since. While that is
// undecided, and also when the decision fails, the service does not refund it. One that
// bought nothing is refunded by the decision.
func TestFinishRestoreParksUnclaimedTransfers(t *testing.T) {
	e := newEnv(t)
	id := e.orphan("0x0a")
	e.now = e.now.Add(10 * time.Minute)
	router, err := registrar.NewRouter(e.names, registrar.Backend{Name: "unable", Rest: true, Registrar: struct{ registrar.Registrar }{e.registry}, Manager: e.registry})
	if err != nil {
		t.Fatal(err)
	}
	restore := e.restore()
	restore.Orders, restore.Lookup = router, router
	if all, err := restore.Finish(t.Context(), true); err != nil || len(all) != 1 || all[0].Undecided == "" || !e.due(id) {
		t.Fatalf("a dry run: got %+v, %v, due %v, want it undecided and as it was", all, err, e.due(id))
	}
	restore.Chain = unreadable{}
	if _, err := restore.Finish(t.Context(), false); err == nil || e.due(id) {
		t.Errorf("the decision fails: got %v, due %v", err, e.due(id))
	}
	restore.Chain = refundedOn{}
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 1 || all[0].Undecided == "" || e.due(id) {
		t.Errorf("undecided: got %+v, %v, due %v", all, err, e.due(id))
	}
	if all, err := e.restore().Finish(t.Context(), false); err != nil || len(all) != 1 || all[0].Undecided != "" || !e.due(id) {
		t.Errorf("it bought nothing: got %+v, %v, due %v", all, err, e.due(id))
	}
}

// readBefore are payments that a node has read before they were parked.
type readBefore struct {
	sqldb.Payments
	read order.Payment
}

func (r readBefore) Payment(ctx context.Context, id string) (order.Payment, error) {
	if id == r.read.ID {
		return r.read, nil
	}
	return r.Payments.Payment(ctx, id)
}

// refuser is a chain on which nothing is refunded.
type refuser struct{}

func (refuser) Refund(context.Context, settle.Refund) (string, error) {
	return "", errors.New("a refund was asked for")
}

// A node that found an unclaimed transfer due before it was parked does not refund it,
// also if it has read the payment before.
func TestParkedTransfersAreNotRefundedByNodesThatFoundThemDue(t *testing.T) {
	e := newEnv(t)
	id := e.orphan("0x0a")
	e.now = e.now.Add(10 * time.Minute)
	read, err := e.payments.Payment(t.Context(), id)
	if err != nil || !e.due(id) {
		t.Fatalf("got %v, due %v", err, e.due(id))
	}
	if _, err := e.payments.ParkLost(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, store := range map[string]fulfil.Store{"read after": e.payments, "read before": readBefore{e.payments, read}} {
		node := &fulfil.Service{Store: store, Refunder: refuser{}, Now: e.engine.Now, Terms: fulfil.DefaultTerms()}
		if _, err := node.Advance(t.Context(), id); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if p, err := e.payments.Payment(t.Context(), id); err != nil || p.State != order.PaymentUnclaimed {
			t.Errorf("%s: got %s, %v", what, p.State, err)
		}
	}
	if all, err := e.restore().Finish(t.Context(), false); err != nil || len(all) != 1 || !e.due(id) {
		t.Errorf("it bought nothing: got %+v, %v, due %v", all, err, e.due(id))
	}
}

// overtaken are payments one of which a running node moves just before a decision on it
// is written.
type overtaken struct {
	sqldb.Payments
	move func(p order.Payment)
}

func (o overtaken) MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error) {
	o.move(p)
	return o.Payments.MovePayment(ctx, p, to, txHash)
}

func (o overtaken) ClaimPayment(ctx context.Context, p order.Payment, placed order.Placed) (order.Payment, error) {
	o.move(p)
	return o.Payments.ClaimPayment(ctx, p, placed)
}

// A decision that was not written, because the payment was moved meanwhile, is an error.
func TestFinishRestoreOfAPaymentThatWasMoved(t *testing.T) {
	for name, ordered := range map[string]bool{"it bought a name": true, "it bought nothing": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			lost := e.lose("0x0a")
			placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(lost), 1), Name: "kept.com", Years: 1, Nameservers: ownServers}
			if ordered {
				if err := e.registry.Place(t.Context(), placed); err != nil {
					t.Fatal(err)
				}
			}
			move := func(p order.Payment) { // the opposite of what is decided
				var err error
				if ordered {
					_, err = e.payments.MovePayment(t.Context(), p, order.PaymentRefundDue, "")
				} else {
					p.Purchase = order.Purchase{Kind: order.PurchaseRegistration, Name: "kept.com", Years: 1}
					_, err = e.payments.ClaimPayment(t.Context(), p, order.Placed{Attempts: 1})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			restore := e.restore()
			restore.Payments = overtaken{e.payments, move}
			all, err := restore.Finish(t.Context(), false)
			if len(all) != 0 || err == nil || !strings.Contains(err.Error(), "changed meanwhile: run this again") {
				t.Errorf("got %+v, %v", all, err)
			}
		})
	}
}
