package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Nodes are notified of each change of a zone, and never by the transaction that makes it:
// PostgreSQL would commit such transactions one after the other.
func TestNoticesFollowTheCommit(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	config := sqldb.PostgresConfig{URL: sqldbtest.MigratedPostgresURL(t), Trace: sqldb.EachStatement(func(sql string) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, sql)
	})}
	db, err := sqldb.OpenPostgresWith(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the database is dropped after the test
	received := listening(t, db)
	next(t, received, "")
	s := newTestEnv(db)
	const name = "notices.com"
	s.sell(t, name)
	next(t, received, fmt.Sprint(name, " ", s.zone(t, name).Serial))
	for i := range 3 {
		id := fmt.Sprint("rec_", i)
		s.change(t, name, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(id), Record: dnszone.Record{Type: "A", Host: fmt.Sprint("h", i), Value: "192.0.2.1", TTL: 60}})
		next(t, received, fmt.Sprint(name, " ", s.zone(t, name).Serial))
	}
	if err := s.zones.SetServed(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	next(t, received, name+" 0")
	mu.Lock()
	defer mu.Unlock()
	notified := false
	for _, sql := range sent {
		if !strings.Contains(sql, "pg_notify") {
			continue
		}
		notified = true
		if strings.Contains(sql, "INSERT") || strings.Contains(sql, "UPDATE") {
			t.Errorf("a statement that writes also notifies: %s", sql)
		}
	}
	if !notified {
		t.Error("no statement that notifies was traced")
	}
}

// Of a transaction that is rolled back nobody is notified, and closing the database waits
// for the notices of those that were committed.
func TestNoticesOfCommittedTransactionsOnly(t *testing.T) {
	url := sqldbtest.MigratedPostgresURL(t)
	listener, err := sqldb.OpenPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // the database is dropped after the test
	received := listening(t, listener)
	next(t, received, "")
	db, err := sqldb.OpenPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("the transaction fails")
	for name, run := range map[string]func(context.Context, func(context.Context, *sqldb.Tx) error) error{"in a transaction": db.RunTx, "at once": db.RunAtOnce} {
		err := run(t.Context(), func(_ context.Context, tx *sqldb.Tx) error {
			tx.Notify("rolled-back.com", 7)
			return failure
		})
		if !errors.Is(err, failure) {
			t.Errorf("%s: got %v, want %v", name, err, failure)
		}
	}
	s := newTestEnv(db)
	s.sell(t, "closing.com")
	want := fmt.Sprint("closing.com ", s.zone(t, "closing.com").Serial)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	next(t, received, want)
}
