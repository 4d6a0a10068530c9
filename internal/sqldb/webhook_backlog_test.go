package sqldb_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/webhook"
)

// Events cost nothing to cause, and a receiver may be slow: what a turn and an attempt read
// does not grow with the deliveries that wait for an earlier one.
func TestBacklogIsNotRead(t *testing.T) {
	db, err := sqldb.OpenPostgres(t.Context(), sqldbtest.MigratedPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	h := openHooks(t, db)
	w := h.create(t, "0xa", hookURL)
	h.emit(t, "0xa", "a.com", "b.com")
	h.backlog(t, w, "a.com", 20_000)
	if err := db.Exec(t.Context(), `ANALYZE webhook_deliveries`); err != nil {
		t.Fatal(err)
	}
	now := strconv.FormatInt(h.now().Unix(), 10)
	for what, statement := range map[string]string{
		"Due":     strings.NewReplacer("$1", "'a.example'", "$2", now, "$3", "32").Replace(sqldb.SelectDueDeliveries),
		"Release": strings.NewReplacer("$1", "'"+w.ID+"'", "$2", "0", "$3", now).Replace(sqldb.SetNextDue),
	} {
		if n := rowsRead(t, db, statement); n > 100 {
			t.Errorf("%s reads %d rows", what, n)
		}
	}
}

var actualRows = regexp.MustCompile(`(?:actual .*rows=([\d.]+) loops=(\d+)|Rows Removed by \w+(?: \w+)*: (\d+))`)

// rowsRead returns how many rows the nodes of the statement's plan return or remove.
func rowsRead(t *testing.T, db *sqldb.DB, statement string) (n int) {
	t.Helper()
	plan, err := db.Lines(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF) "+statement)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range plan {
		for _, m := range actualRows.FindAllStringSubmatch(line, -1) {
			rows, _ := strconv.ParseFloat(m[1]+m[3], 64)
			loops, err := strconv.Atoi(m[2])
			if err != nil {
				loops = 1
			}
			n += int(rows) * loops
		}
	}
	if n == 0 {
		t.Fatalf("nothing is read: %v", plan)
	}
	return n
}

// backlog adds events of a name that wait to be delivered to a webhook.
func (h *hooks) backlog(t *testing.T, w webhook.Webhook, name string, events int) {
	t.Helper()
	err := h.db.Exec(t.Context(), fmt.Sprintf(`
		WITH RECURSIVE given (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM given WHERE n < %d)
		INSERT INTO webhook_deliveries (webhook, event, n, type, aggregate, host, state, created_at)
		SELECT '%s', 'evt_backlog' || n, 1000 + n, 'domain.renewed', '%s', '%s', 'pending', %d FROM given`,
		events, w.ID, name, w.Host, h.now().Unix()))
	if err != nil {
		t.Fatal(err)
	}
}

// A failed attempt changes only its own delivery and not those that wait for it, and a
// webhook with a long backlog is turned off or deleted a part at a time.
func TestBacklogEndsInParts(t *testing.T) {
	const events = 5_500 // more than a part
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := openHooks(t, db)
		w := h.create(t, "0xa", hookURL)
		h.emit(t, "0xa", "a.com")
		h.backlog(t, w, "a.com", events)
		count := func(where, want string) {
			t.Helper()
			if n, err := db.Text(t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE `+where); err != nil || n != want {
				t.Errorf("%s: got %s, %v, want %s", where, n, err, want)
			}
		}
		status := 500
		r := &receivers{answer: func(context.Context, string, string) webhook.Outcome { return webhook.OutcomeOf(status) }}
		d := h.dispatcher(t, r)
		deliver(t, d)
		count(`next_at > 0`, "1")
		status = 410
		h.advance(5 * time.Second)
		deliver(t, d)
		count(`state = 'failed'`, "5000")
		deliver(t, d)
		count(`state = 'pending'`, "0")
		if got := r.take(); len(got) != 2 {
			t.Errorf("got %v", got)
		}

		w = h.create(t, "0xa", hookURL)
		h.backlog(t, w, "a.com", events)
		if err := h.Delete(t.Context(), w.Owner, w.ID); err != nil {
			t.Fatal(err)
		}
		count(`state = 'pending'`, "500")
		deliver(t, d)
		if got := r.take(); len(got) != 0 {
			t.Errorf("a deleted webhook: got %v", got)
		}
		if err := h.store.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		count(`state = 'pending'`, "0")
	})
}
