package sqldb_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// dueNode is a node with its own connection to a shared database.
type dueNode struct {
	nodes sqldb.Nodes
	node  sqldb.Node
	rows  sqldb.LateOrders
}

func (n dueNode) divide(t *testing.T) int {
	t.Helper()
	if err := n.nodes.Write(t.Context(), n.node); err != nil {
		t.Fatal(err)
	}
	running, err := n.nodes.Divide(t.Context(), n.node)
	if err != nil {
		t.Fatal(err)
	}
	return running
}

func (n dueNode) due(t *testing.T, limit int) []string {
	t.Helper()
	ids, err := n.rows.DueLateOrders(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

// Nodes that share a database divide the due rows among themselves. Rows that are late
// because their node is gone or has too much to do are taken by the others, after their
// own.
func TestNodesDivideDueRows(t *testing.T) {
	const rows = 200
	url := sqldbtest.MigratedPostgresURL(t)
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	open := func(host string) dueNode {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) // the database goes away with the test
		db.Timeout = time.Minute
		return dueNode{sqldb.Nodes{DB: db, Now: clock}, sqldb.NewNode(host, "1", now), sqldb.LateOrders{DB: db, Now: clock}}
	}
	a, b := open("a"), open("b")
	for i := range rows {
		insert := fmt.Sprintf(`INSERT INTO late_orders (job_id, domain, state, checks, failed_at, found_at, detail, next_at)
			VALUES ('job-%03d', 'x.com', 'watching', 0, 1, 0, '', %d)`, i, now.Unix())
		if err := a.rows.DB.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	if n := a.divide(t); n != 1 || len(a.due(t, 1000)) != rows {
		t.Fatalf("alone, a node has %d of %d rows, and says that %d nodes run", len(a.due(t, 1000)), rows, n)
	}
	b.divide(t)
	if n := a.divide(t); n != 2 {
		t.Fatalf("%d nodes run", n)
	}
	ofA, ofB := a.due(t, 1000), b.due(t, 1000)
	if len(ofA) < rows/4 || len(ofB) < rows/4 || len(ofA)+len(ofB) != rows {
		t.Errorf("%d and %d of %d rows", len(ofA), len(ofB), rows)
	}
	for _, id := range ofA {
		if slices.Contains(ofB, id) {
			t.Errorf("both nodes have %s", id)
		}
	}
	if all, err := a.rows.DueLateOrders(sqldb.Undivided(t.Context()), 1000); err != nil || len(all) != rows {
		t.Errorf("undivided: %d of %d rows, %v", len(all), rows, err)
	}
	now = now.Add(4 * time.Second)
	if got := a.due(t, 1000); len(got) != rows {
		t.Errorf("of late rows a node has %d of %d", len(got), rows)
	}
	if got := a.due(t, len(ofA)); !slices.Equal(got, ofA) {
		t.Errorf("its own rows do not come first: got %v", got)
	}
	if err := b.nodes.Remove(t.Context(), b.node); err != nil {
		t.Fatal(err)
	}
	if n := a.divide(t); n != 1 {
		t.Errorf("after the end of the other, %d nodes run", n)
	}
	b.divide(t)
	now = now.Add(time.Minute) // b was killed
	if n := a.divide(t); n != 1 {
		t.Errorf("after the other was killed, %d nodes run", n)
	}
}
