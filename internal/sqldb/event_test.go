package sqldb_test

import (
	"fmt"
	"sync"
	"testing"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A reader that continues after the last number it has seen misses no event, even
// while transactions that emit events for the same wallets commit concurrently.
func TestEventsAreNumberedInCommitOrder(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const writers, each = 8, 20
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					one, two := event.Event{Owner: "0xa", Type: event.JobCompleted}, event.Event{Owner: "0xb", Type: event.JobFailed}
					one.Data.JobID = fmt.Sprint(w, i)
					if err := sqldb.Emit(t.Context(), db, two, one, one); err != nil {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		var seen int64
		for final := false; seen < 2*writers*each; {
			page, err := sqldb.Events{DB: db}.Events(t.Context(), "0xa", seen, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				if e.N != seen+1 {
					t.Fatalf("event %d came after %d", e.N, seen)
				}
				seen = e.N
			}
			if len(page) == 0 {
				if final {
					t.Fatalf("all writers are done, and %d events are there, want %d", seen, 2*writers*each)
				}
				select {
				case <-done:
					final = true
				default:
				}
			}
		}
		<-done // the last writer may not have its answer yet
		page, err := sqldb.Events{DB: db}.Events(t.Context(), "0xb", writers*each-1, 10)
		if err != nil || len(page) != 1 || page[0].Type != event.JobFailed {
			t.Errorf("got %+v, %v, want the last event of the other wallet", page, err)
		}
	})
}

// A transaction that fails emits nothing, also when others are committed with it.
func TestFailedTransactionEmitsNothing(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if err := sqldb.EmitAndFail(t.Context(), db, event.Event{Owner: "0xa", Type: event.JobCompleted}); err == nil {
			t.Fatal("no error")
		}
		if err := sqldb.Emit(t.Context(), db, event.Event{Owner: "0xa", Type: event.JobFailed}); err != nil {
			t.Fatal(err)
		}
		page, err := sqldb.Events{DB: db}.Events(t.Context(), "0xa", 0, 10)
		if err != nil || len(page) != 1 || page[0].N != 1 || page[0].Type != event.JobFailed || page[0].ID == "" {
			t.Errorf("got %+v, %v", page, err)
		}
	})
}
