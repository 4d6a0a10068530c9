package sqldb_test

import (
	"testing"

	"deed.example/deed/internal/sqldb"
)

// In-memory databases have the schema of a file, and are independent.
func TestOpenMemory(t *testing.T) {
	for range 2 {
		db, err := sqldb.OpenMemory(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // closed after the test
		if err := db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		findings, err := sqldb.Audit{DB: db}.Run(t.Context())
		if err != nil || len(findings) == 0 {
			t.Errorf("got %v, %v", findings, err)
		}
		rows := sqldb.Payments{DB: db, ChainID: 1}
		if next, err := rows.Watched(t.Context()); err != nil || next != 0 {
			t.Errorf("got block %d, %v, want a fresh database", next, err)
		}
		if err := rows.SetWatched(t.Context(), 7, nil); err != nil {
			t.Error(err)
		}
	}
}
