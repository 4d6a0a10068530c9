package sqldb

import (
	"context"
	"path/filepath"
	"testing"
)

// Placeholders are numbered. Some SQLite drivers bind them in order of appearance instead,
// and would swap these two.
func TestPlaceholdersBindByNumber(t *testing.T) {
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file is deleted after the test
	var a, b string
	if err := db.read.QueryRowContext(t.Context(), `SELECT $2, $1`, "one", "two").Scan(&a, &b); err != nil || a != "two" || b != "one" {
		t.Errorf("got %s, %s, %v, want two, one", a, b, err)
	}
}

// The connections use the durability settings that OpenSQLite documents.
func TestSQLiteSettings(t *testing.T) {
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "a folder?with#odd%20signs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file is deleted after the test
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000"} {
		var got string
		if err := db.write.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", pragma, got, err, want)
		}
	}
	if _, err := db.read.ExecContext(t.Context(), `DELETE FROM limits`); err == nil {
		t.Error("the read pool wrote")
	}
}

// Readers are not blocked by a writer.
func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file is deleted after the test
	err = db.tx(t.Context(), func(ctx context.Context, tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO limits (ends, key, n) VALUES (1, 'a', 1)`); err != nil {
			return err
		}
		var n int
		if err := db.read.QueryRowContext(ctx, `SELECT count(*) FROM limits`).Scan(&n); err != nil || n != 0 {
			t.Errorf("while the writer is at work: got %d, %v, want 0", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
