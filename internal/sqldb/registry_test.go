package sqldb

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"deed.example/deed/internal/registrar"
)

// Names and orders from versions without renewals keep their dates, and count as
// registered, locked, and with the default grace period.
func TestOldRegistryRows(t *testing.T) {
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file is deleted after the test
	created := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	expires := created.AddDate(2, 0, 0)
	err = db.tx(t.Context(), func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO registry_orders (reference, name, years, account, state, refusal, placed_at, due_at)
			VALUES ('a', 'old.dev', 2, 'deed', 'done', '', $1, $1)`, created.Unix())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO registry_names (name, reference, account, created_at, expires_at)
			VALUES ('old.dev', 'a', 'deed', $1, $2)`, created.Unix(), expires.Unix())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := Registry{DB: db}
	p, err := s.Placement(t.Context(), "a", created)
	if err != nil || p.Kind != registrar.OrderRegister || !p.Created.Equal(created) || !p.Expires.Equal(expires) {
		t.Errorf("got %+v, %v", p, err)
	}
	e, err := s.Entry(t.Context(), "old.dev", created)
	if err != nil || e.GraceDays != 45 || !e.Locked || !e.Expires.Equal(expires) || !e.Moved.IsZero() {
		t.Errorf("got %+v, %v", e, err)
	}
}

// The queries of orders and availability checks use an index.
func TestRegistryQueriesUseIndexes(t *testing.T) {
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file is deleted after the test
	for _, query := range []string{selectEntry, selectPlacement} {
		rows, err := db.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var plan string
			if err := rows.Scan(&id, &parent, &unused, &plan); err != nil {
				t.Fatal(err)
			}
			if len(plan) > 4 && plan[:4] == "SCAN" && plan != "SCAN CONSTANT ROW" {
				t.Errorf("%s in %s", plan, query)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
