package e2e_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
)

// After the restore of a backup, a name that nobody has paid for is not deleted while an
// operator has to decide on payments: one may be for its renewal.
func TestUnpaidNameWaitsForTheRestore(t *testing.T) {
	e := openAutoRenewEnv(t, nil)
	e.bought(t, "first.com")
	paid := e.domain(t, "first.com").ExpiresAt
	e.broadcast(t, e.promise(e.buyer(t), comRenewal))
	lost, err := e.app.FinishRestore(t.Context(), false)
	if err != nil || len(lost) != 1 || lost[0].Undecided == "" {
		t.Fatalf("got %+v, %v", lost, err)
	}
	expectDomain(t, "undecided", e.until(t, paid.AddDate(0, 0, 40)), "expired", paid, "expired")
	payments := sqldb.Payments{DB: e.db, Now: e.clock.Now}
	if p, err := payments.MovePayment(t.Context(), lost[0].Payment, order.PaymentRefundDue, ""); err != nil || p.State != order.PaymentRefundDue {
		t.Fatalf("got %s, %v", p.State, err)
	}
	expectDomain(t, "decided", e.until(t, e.clock.Now().Add(time.Hour)), "redemption", paid, "redemption")
}
