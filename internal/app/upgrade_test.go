//go:build unix

package app

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/postgrestest"
)

// nextRelease is what the first node of a newer release does to the schema, under the
// rules for migrations: it adds, and neither removes nor renames what a node of this
// release uses.
var nextRelease = []string{
	`ALTER TABLE registrations ADD COLUMN note TEXT`,
	`ALTER TABLE payments ADD COLUMN channel TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE zones ADD COLUMN tags TEXT`,
	`CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT NOT NULL)`,
	`CREATE INDEX payments_channel ON payments (channel)`,
	`INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000000, true)`,
}

// A command that reads the database of an older service says so, and does not fail with
// the words of the database.
func TestCommandsOnAnOlderSchema(t *testing.T) {
	c := sandbox(t)
	db, err := sql.Open("sqlite", c.databaseFile())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // only a test's connection
	for _, statement := range []string{`ALTER TABLE wallets DROP COLUMN sessions_at_most`, `DELETE FROM goose_db_version WHERE version_id >= 60`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Audit(t.Context(), c, false); err == nil || !strings.Contains(err.Error(), "is at version 59") {
		t.Errorf("audit: got %v", err)
	}
	if version, _, err := Schema(t.Context(), c, 0); err != nil || version != 59 {
		t.Errorf("schema: got %d, %v", version, err)
	}
	if err := c.FindDatabase(t.Context()); err != nil {
		t.Errorf("a command that migrates it: %v", err)
	}
}

// A node goes on beside one of the next release, which has changed the schema under it.
// It does not start on that schema again, and says which versions they have.
func TestNodeBesideANewerOne(t *testing.T) {
	server := postgrestest.Start(t)
	c := sandbox(t)
	c.DatabaseURL, c.Database.Timeout = deed.Secret(postgrestest.URL("postgres", server)), time.Minute
	_, buyer := serveSandbox(t, c)
	trade := func(domain string) {
		t.Helper()
		if err := buyName(t, buyer, domain); err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"www", "mail"} {
			if _, err := buyer.AddRecord(t.Context(), domain, api.RecordRequest{Type: "A", Host: host, Value: "192.0.2.7"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := buyer.Domain(t.Context(), domain); err != nil {
			t.Error(err)
		}
	}
	trade("before.com") // its statements are prepared now
	for _, statement := range nextRelease {
		server.Exec(t, statement)
	}
	trade("after.com")
	c.Data = t.TempDir()
	if a, err := Open(t.Context(), c); err == nil {
		t.Errorf("it starts: %v", a.Close())
	} else if !strings.Contains(err.Error(), "1000000") || !strings.Contains(err.Error(), "newer binary") {
		t.Errorf("got %v", err)
	}
}
