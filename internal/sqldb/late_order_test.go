package sqldb_test

import (
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// lateOrder fails a job whose order was placed, and returns what is watched then.
func lateOrder(t *testing.T, db *sqldb.DB, late sqldb.LateOrders) order.LateOrder {
	t.Helper()
	sample(t, db)
	due, err := late.DueLateOrders(t.Context(), 10)
	if err != nil || len(due) != 1 {
		t.Fatalf("got %v, %v, want one order", due, err)
	}
	l, err := late.LateOrder(t.Context(), due[0])
	if err != nil || l.State != order.LateWatching || l.Job.Purchase.Name != "name5.com" || l.Job.Attempts != 1 {
		t.Fatalf("got %+v, %v", l, err)
	}
	return l
}

// Each check is stored by one process, and the name is claimed exactly while it is
// being deleted.
func TestLateOrderIsMovedOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Now().AddDate(1, 0, 0)
		late := sqldb.LateOrders{DB: db, Now: func() time.Time { return now }}
		l := lateOrder(t, db, late)
		for _, to := range []order.LateOrderState{order.LateHeld, order.LateDeleting, order.LateHeld, order.LateDeleting, order.LateDeleted} {
			var mu sync.Mutex
			var wg sync.WaitGroup
			won := 0 // guarded by mu
			for range 4 {
				wg.Go(func() {
					moved, err := late.MoveLateOrder(t.Context(), l, to, now)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					}
					if moved {
						won++
					}
				})
			}
			wg.Wait()
			if won != 1 {
				t.Fatalf("to %s: %d processes moved it", to, won)
			}
			is, err := late.LateOrder(t.Context(), l.Job.ID)
			if err != nil || is.State != to || is.Checks != l.Checks+1 {
				t.Fatalf("got %+v, %v", is, err)
			}
			l = is
			claims, err := db.Text(t.Context(), `SELECT count(*) FROM claims WHERE domain = 'name5.com'`)
			if want := map[bool]string{true: "1", false: "0"}[to == order.LateDeleting]; err != nil || claims != want {
				t.Errorf("%s: got %s claims, %v, want %s", to, claims, err, want)
			}
		}
	})
}

// A name that somebody buys is not deleted, and one that is being deleted cannot be
// bought.
func TestLateOrderAndBuyer(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Now().AddDate(1, 0, 0)
		clock := func() time.Time { return now }
		late, payments := sqldb.LateOrders{DB: db, Now: clock}, sqldb.Payments{DB: db, ChainID: 1, Now: clock}
		l := lateOrder(t, db, late)
		if _, err := late.MoveLateOrder(t.Context(), l, order.LateHeld, now); err != nil {
			t.Fatal(err)
		}
		l.State, l.Checks = order.LateHeld, l.Checks+1
		p := openRegistration("0x00000000000000000000000000000000000000aa", 77, 5)
		p.Purchase.Name = "name5.com"
		admit := func(order.Payer) error { return nil }
		var bought error
		var deleting bool
		var wg sync.WaitGroup
		wg.Go(func() { _, bought = payments.AuthorizePayment(t.Context(), p, admit) })
		wg.Go(func() {
			var err error
			if deleting, err = late.MoveLateOrder(t.Context(), l, order.LateDeleting, now); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if deleting == (bought == nil) || bought != nil && deed.CodeOf(bought) != deed.CodeDomainUnavailable {
			t.Errorf("deleting %t, and the buyer got %v", deleting, bought)
		}
		owned, err := late.Owned(t.Context(), l)
		if err != nil || owned == deleting {
			t.Errorf("owned %t while deleting %t, %v", owned, deleting, err)
		}
	})
}
