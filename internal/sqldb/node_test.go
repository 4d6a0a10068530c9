package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Every node has a row with the time of its last write; those of nodes that ended are
// removed after an hour.
func TestNodes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Unix(1_800_000_000, 0)
		nodes := sqldb.Nodes{DB: db, Now: func() time.Time { return now }}
		first, second := sqldb.NewNode("a", "1", now), sqldb.NewNode("b", "2", now)
		write := func(n sqldb.Node) {
			t.Helper()
			if err := nodes.Write(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		write(first)
		now = now.Add(time.Minute)
		write(second)
		all, err := nodes.All(t.Context())
		if err != nil || len(all) != 2 || all[0].Host != "b" || !all[0].Seen.Equal(now) || all[1].Version != "1" {
			t.Errorf("got %+v, %v", all, err)
		}
		now = now.Add(time.Hour)
		write(second)
		if all, err := nodes.All(t.Context()); err != nil || len(all) != 1 || all[0].ID != second.ID {
			t.Errorf("an hour later: got %+v, %v", all, err)
		}
	})
}

// What operators did cannot be changed or removed, not even by hand.
func TestOperatorActionsAreAppendOnly(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const insert = `INSERT INTO operator_actions (id, at, operator, action, target, reason, outcome) VALUES ('1', 1, 'anna', 'refund', 'x', 'y', 'z')`
		if err := db.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{`UPDATE operator_actions SET operator = 'bob'`, `DELETE FROM operator_actions`} {
			if err := db.Exec(t.Context(), change); err == nil {
				t.Errorf("%s: no error", change)
			}
		}
		if got, err := db.Text(t.Context(), `SELECT operator FROM operator_actions`); err != nil || got != "anna" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
