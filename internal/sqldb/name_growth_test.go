package sqldb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/account"
	"deed.example/deed/internal/lifecycle"
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

// Anybody may ask for a name: they get its newest events and how it came here, and the
// others are not read.
func TestOldEventsAreNotRead(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		is, err := s.names.Registration(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		const many = 20_000
		err = db.Exec(t.Context(), fmt.Sprintf(`
			WITH RECURSIVE given (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM given WHERE n < %d)
			INSERT INTO events (reference, type, about_at, domain, at)
			SELECT '%s', 'handed_over', %[3]d + n, 'first.com', %[3]d + n FROM given`, many, is.Reference, is.Created.Unix()+60))
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO events (reference, type, about_at, domain, at) VALUES ('before', 'registered', 1, 'first.com', 1)`,
			`ANALYZE`,
		} {
			if err := db.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.names.Events(t.Context(), is)
		if err != nil || len(got) != 101 || got[0].Type != lifecycle.EventRegistered || got[100].At.Unix() != is.Created.Unix()+60+many {
			t.Errorf("got %d events, %v: %v", len(got), err, got)
		}
		last, err := s.names.LastEvent(t.Context(), is.Reference, lifecycle.EventRegistered, lifecycle.EventHandedOver, lifecycle.EventDelegated)
		if err != nil || !last.Equal(got[100].At) {
			t.Errorf("the last event: got %s, %v, want %s", last, err, got[100].At)
		}
		for event, want := range map[lifecycle.EventType]time.Time{lifecycle.EventRegistered: is.Created, lifecycle.EventDelegated: {}} {
			if at, err := s.names.LastEvent(t.Context(), is.Reference, event); err != nil || !at.Equal(want) {
				t.Errorf("the last event %s: got %s, %v, want %s", event, at, err, want)
			}
		}
		list, _, err := sqldb.Accounts{DB: db}.Domains(t.Context(), is.Owner, "", time.Time{}, account.Page{Limit: 10})
		if err != nil || len(list) != 1 || !slices.Equal(list[0].Events, got) {
			t.Errorf("in the list: got %v, %v", list, err)
		}
		if db.IsSQLite() {
			return
		}
		one := strings.NewReplacer("$1", "'first.com'", "$2", "'"+is.Reference+"'").Replace(sqldb.SelectEventsOfOne)
		lastOne := strings.NewReplacer("$1", "'"+is.Reference+"'", "$2", "'handed_over'").Replace(sqldb.SelectLastEvent)
		if n := rowsRead(t, db, lastOne); n > 10 {
			t.Errorf("%d rows are read for the last event", n)
		}
		for _, statement := range []string{one, sqldb.SelectEvents(`SELECT domain, reference FROM registrations WHERE domain = 'first.com'`)} {
			if n := rowsRead(t, db, statement); n > 1000 {
				t.Errorf("%d rows are read by %s", n, statement)
			}
		}
	})
}
