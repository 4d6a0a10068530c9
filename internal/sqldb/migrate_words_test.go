package sqldb_test

import (
	"context"
	"testing"

	"deed.example/deed/internal/sqldb"
)

// Migration 15 renames columns and a table, and keeps every value.
func TestMigrateWords(t *testing.T) { eachMigrated(t, 14, migrateWords) }

func migrateWords(t *testing.T, openOld, open func(context.Context) (*sqldb.DB, error)) {
	t.Helper()
	old, err := openOld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO zones (id, domain, serial, member, generation, renew_at, dark_at, changed_at) VALUES ('z', 'example.com', 30, 'm', 0, 0, 77, 0)`,
		`INSERT INTO records (zone_id, id, type, host, value, ttl, created_at, updated_at, born, died) VALUES ('z', 'r', 'A', '@', '192.0.2.1', 60, 1, 1, 10, 20)`,
		`INSERT INTO served (zone_id, owner, type, ttl, data, born, died) VALUES ('z', 'example.com', 1, 60, 'c0000201', 11, 21)`,
		`INSERT INTO outbox (zone_id, serial, told, at) VALUES ('z', 30, 29, 99)`,
		`INSERT INTO acts (reference, n, domain, wallet, act, detail, at) VALUES ('ref', 0, 'example.com', '0x01', 'lock', '', 5)`,
		`INSERT INTO zone_master (id, print) VALUES (1, 'abc')`,
		`INSERT INTO token_keys (id, print) VALUES ('k', 'def')`,
	} {
		if err := old.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // closed after the test
	for query, want := range map[string]string{
		`SELECT withdrawn_at FROM zones`:                            "77",
		`SELECT added_serial * 100 + removed_serial FROM records`:   "1020",
		`SELECT added_serial * 100 + removed_serial FROM served`:    "1121",
		`SELECT propagated_serial * 100 + next_at FROM outbox`:      "2999",
		`SELECT action FROM owner_actions WHERE reference = 'ref'`:  "lock",
		`SELECT fingerprint FROM zone_master`:                       "abc",
		`SELECT fingerprint FROM token_keys WHERE id = 'k'`:         "def",
		`SELECT count(*) FROM records WHERE removed_serial IS NULL`: "0",
	} {
		if got, err := db.Text(t.Context(), query); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", query, got, err, want)
		}
	}
	for _, broken := range []string{
		`UPDATE records SET removed_serial = 10`,   // not after added_serial
		`UPDATE outbox SET propagated_serial = 31`, // beyond the serial
		`UPDATE owner_actions SET action = 'sell'`, // not an action
	} {
		if err := db.Exec(t.Context(), broken); err == nil {
			t.Errorf("the database accepted %q", broken)
		}
	}
}
