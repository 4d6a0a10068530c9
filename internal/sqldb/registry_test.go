package sqldb

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
	p, _, err := s.Placement(t.Context(), "a", created)
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
	db := openFresh(t)
	for _, query := range []string{selectEntry, selectPlacement, selectPlacementAndEntry} {
		for _, plan := range plans(t, db, query, "a", 0) {
			if strings.HasPrefix(plan, "SCAN") && plan != "SCAN CONSTANT ROW" {
				t.Errorf("%s in %s", plan, query)
			}
		}
	}
}

// What is read before a payment is accepted does not grow with the payments, not even
// with those of the wallet.
func TestOpenPaymentsUseIndexes(t *testing.T) {
	db := openFresh(t)
	for index, query := range map[string]string{"payments_open": selectOpen, "payments_alias": countAliases, "payments_open (payer>?)": countDeployments} {
		if all := fmt.Sprint(plans(t, db, query, 1, 2, 3, 4, 5)); !strings.Contains(all, "INDEX "+index) {
			t.Errorf("%s in %s", all, query)
		}
	}
}

// What is due to webhooks is looked up among what is pending, and not among what was
// delivered before or waits for an earlier event of its name.
func TestWhatIsDueToWebhooksIsLookedUp(t *testing.T) {
	for _, query := range []string{setNextDue, selectDueDeliveries} {
		for _, plan := range plans(t, openFresh(t), query, "wh_1", 0, 0) {
			deliveries := slices.Contains([]string{"d", "e"}, strings.Fields(plan + " .")[1])
			if deliveries && !strings.Contains(plan, "webhook_deliveries_order (webhook=? AND aggregate") {
				t.Errorf("%s in %s", plan, query)
			}
		}
	}
}

// plans returns how SQLite would execute a query. It takes as many of the arguments as it
// has placeholders.
func plans(t *testing.T, db *DB, query string, args ...any) (list []string) {
	t.Helper()
	for len(args) > 0 && !strings.Contains(query, fmt.Sprint("$", len(args))) {
		args = args[:len(args)-1]
	}
	rows, err := db.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	err = eachRow(rows, func() error {
		var id, parent, unused int
		var plan string
		err := rows.Scan(&id, &parent, &unused, &plan)
		list = append(list, plan)
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%v: %v", list, err)
	}
	return list
}
