package e2e_test

import (
	"database/sql"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// What an owner gives is in no table and in no log, whatever the registry says about it;
// nor does RDAP or anybody's answer have it.
func TestPersonalDataIsSealed(t *testing.T) {
	path := sqldbtest.SQLiteFile(t)
	file, err := sqldb.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() }) // it goes away with the test
	t.Run("sqlite", func(t *testing.T) {
		keepsSecrets(t, file, func(t *testing.T) string {
			var all strings.Builder
			for _, end := range []string{"", "-wal"} {
				raw, err := os.ReadFile(path + end)
				if err != nil && end == "" {
					t.Fatal(err)
				}
				all.Write(raw)
			}
			return all.String()
		})
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() }) // likewise
		keepsSecrets(t, db, func(t *testing.T) string { return dumpPostgres(t, url) })
	})
}

// keepsSecrets runs a service on the database through everything that handles contact
// data, and looks for it in all that is stored and logged.
func keepsSecrets(t *testing.T, db *sqldb.DB, dump func(*testing.T) string) {
	db.Timeout = time.Minute // a busy machine must not fail a test
	var log logtest.Buffer
	e := openEPPEnvWith(t, db, epptest.Config{Contacts: true}, operatorContact, func(c *app.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.AccessLog = true
	})
	s := registrantEnv{env: e.env}
	token := s.bearer(t, s.bought(t, "first.com"))
	look := func(when string) {
		t.Helper()
		stored := dump(t)
		if !strings.Contains(stored, "first.com") {
			t.Fatal("the name is not in what was read")
		}
		public := s.get(t, "/domains/first.com").body + s.get(t, "/rdap/domain/first.com").body
		for _, word := range personal {
			for place, text := range map[string]string{"database": stored, "log": log.String(), "public answers": public} {
				if strings.Contains(text, word) {
					t.Errorf("%s: %q is in the %s", when, word, place)
				}
			}
		}
	}
	e.server.RefuseContacts("the street Secret Lane in Undisclosed does not exist, ada.quiet@example.org")
	s.give(t, token, adaContact)
	look("given")
	s.runRegistrants(t)
	if got := s.show(t, token); !strings.Contains(got.Reason, "Secret Lane") {
		t.Errorf("got %+v", got)
	}
	look("refused")
	e.server.RefuseContacts("")
	e.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: 1, Only: []string{"contact create"}})
	s.give(t, token, adaContact)
	due, err := s.api.Registrations.Registrants.DueRegistrants(t.Context(), 100)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	if err := s.api.Registrations.AdvanceRegistrant(t.Context(), due[0]); err != nil {
		e.app.API.Log.Error("advance", "err", err.Error()) // as the worker does
	}
	look("not answered")
	s.clock.advance(2 * time.Minute) // until the next attempt
	s.runRegistrants(t)
	if got := s.show(t, token); got.Status != "sent" {
		t.Fatalf("got %+v", got)
	}
	look("sent")
}

// dumpPostgres returns every row of every table as text.
func dumpPostgres(t *testing.T, url string) string {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // it was only read
	column := func(query string) (all []string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() // its error is that of Err
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	var out []string
	for _, table := range column(`SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`) {
		out = append(out, column(`SELECT t::text FROM "`+table+`" t`)...)
	}
	return strings.Join(out, "\n")
}
