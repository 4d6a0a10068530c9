package sqldb_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Owners lock names, change name servers and hand names over for nothing: neither the next
// action nor what anybody may read of a name grows with those before.
func TestOldActionsAreNotRead(t *testing.T) {
	db, err := sqldb.OpenPostgres(t.Context(), sqldbtest.MigratedPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	for _, statement := range []string{
		`INSERT INTO owner_actions (reference, n, domain, wallet, action, detail, at)
			SELECT 'r1', n, 'a.com', '0xa', 'lock', '', n FROM generate_series(0, 20000) n`,
		`ANALYZE owner_actions`,
	} {
		if err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	query := strings.ReplaceAll(sqldb.CountOwnerActions, "$1", "'r1'")
	if n := rowsRead(t, db, query); n > 10 {
		t.Errorf("%d rows are read", n)
	}
	if n, err := db.Text(t.Context(), query); err != nil || n != fmt.Sprint(20001) {
		t.Errorf("got %s, %v", n, err)
	}
}
