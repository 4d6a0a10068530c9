package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// PostgreSQL may end a connection at any moment, also after it has executed a statement
// and before it has answered. Every change that was paid for is made, once.
func TestConnectionsEndDuringPaidChanges(t *testing.T) {
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		t.Skip("TEST_POSTGRES_URL is not set; make test sets it")
	}
	c := sandbox(t)
	c.DatabaseURL = deed.Secret(sqldbtest.MigratedPostgresURL(t))
	_, buyer := serveSandbox(t, c)
	const name, callers, changes = "connections.com", 4, 6 // by each caller
	if err := buyName(t, buyer, name); err != nil {
		t.Fatal(err)
	}
	ended := endConnections(t, c.DatabaseURL.Reveal())
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for k := range changes {
				_, err := buyer.AddRecord(t.Context(), name, api.RecordRequest{Type: "A", Host: fmt.Sprint("host", i, "-", k), Value: "192.0.2.1"})
				if err != nil && client.CodeOf(err) != string(deed.CodeUnavailable) {
					t.Errorf("change %d of caller %d: %v", k, i, err)
				}
			}
		})
	}
	all.Wait()
	if n := ended(); n == 0 {
		t.Fatal("no connection was ended")
	}
	waitFor(t, func() bool {
		r, err := Audit(t.Context(), c, true)
		for _, f := range r.Findings {
			if f.Broken > 0 {
				t.Fatalf("%s: %d", f.Invariant, f.Broken)
			}
		}
		return err == nil && r.Open == 0
	})
	paid := 0
	for tx, err := range buyer.Transactions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if tx.Domain == name && tx.TxHash != nil {
			paid++
		}
	}
	z, err := buyer.Records(t.Context(), name, client.RecordFilter{})
	if err != nil || len(z.Records) != paid-1 { // one paid for the name
		t.Errorf("%d records for %d payments, %v", len(z.Records), paid, err)
	}
}

// endConnections ends connections that execute a statement, one after the other, up to 20
// of them, until the function that it returns is called, which returns their number.
func endConnections(t *testing.T, url string) func() int {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := 0
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil && ended < 20 {
			var n int
			if err := db.QueryRow(t.Context(), `
				SELECT count(pg_terminate_backend(pid)) FROM (
					SELECT pid FROM pg_stat_activity
					 WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) busy`).Scan(&n); err != nil {
				t.Error(err)
				return
			}
			ended += n
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() int {
		stop()
		done.Wait()
		if err := db.Close(t.Context()); err != nil {
			t.Error(err)
		}
		return ended
	}
}
