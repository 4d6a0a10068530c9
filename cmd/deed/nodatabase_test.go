package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deed.example/deed/internal/sqldb/sqldbtest"
)

// onDatabase are the commands that work on the database of a service.
var onDatabase = []string{"audit", "backup copy.db", "dnskey ls", "dnskey roll --all", "export", "reconcile", "republish", "restore finish", "restore finish --dry-run", "schema"}

// A command that is given the wrong folder, or the address of an empty database, says so.
// It must not make one, and find nothing to do in it.
func TestCommandsMakeNoDatabase(t *testing.T) {
	for _, command := range onDatabase {
		dir := filepath.Join(t.TempDir(), "wrong")
		out, err := exec.Command(binary, append([]string{"admin", "--data", dir}, strings.Fields(command)...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "find the database of the service: ") || !strings.Contains(string(out), "--config") {
			t.Errorf("%s: got %v: %s", command, err, out)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s made the folder: %v", command, err)
		}
	}
}

// The same with an empty PostgreSQL, such as one whose restore has failed.
func TestCommandsMakeNoTables(t *testing.T) {
	address := sqldbtest.PostgresURL(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // only a test's connection
	for _, command := range onDatabase {
		cmd := exec.Command(binary, append([]string{"admin", "--data", filepath.Join(t.TempDir(), "wrong")}, strings.Fields(command)...)...)
		cmd.Env = append(slices.Clone(os.Environ()), "DEED_DATABASE_URL="+address)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the database has no tables of a service: ") && !strings.Contains(string(out), "pg_dump") {
			t.Errorf("%s: got %v: %s", command, err, out)
		}
		tables := 0
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()`).Scan(&tables); err != nil || tables != 0 {
			t.Fatalf("%s made %d tables, %v", command, tables, err)
		}
	}
}
