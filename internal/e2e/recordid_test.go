package e2e_test

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

var shortIDs = regexp.MustCompile(`^[a-z0-9]{1,14}$`)

// Every record has a stable id of at most 14 characters everywhere; id and
// recordId are the same.
func TestRecordIDsAreShort(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.buyer(t)
		bought := s.paid(t, "/domains/register", `{"domain":"first.com","dns_records":[{"type":"TXT","host":"@","value":"first"}]}`, s.promise(owner, comPrice).header(t))
		if bought.status != 201 {
			t.Fatalf("got %d %s", bought.status, bought.body)
		}
		token, seen := s.bearer(t, owner), map[string]int{}
		change := func(method, path, body string, n deed.USDC) answer {
			return s.dnsCall(t, method, "/dns/first.com"+path, body, token, s.promise(owner, n*100_000).header(t))
		}
		rec := created(t, change("POST", "", `{"type":"A","host":"www","value":"192.0.2.10"}`, 1))
		answers := []string{bought.body, change("PUT", "/"+rec.ID, `{"ttl":60}`, 1).body,
			change("POST", "/batch", fmt.Sprintf(`{"changes":[{"op":"add","type":"A","host":"api","value":"192.0.2.11"},{"op":"update","id":%q,"ttl":120}]}`, rec.ID), 2).body,
			s.dnsCall(t, "GET", "/dns/first.com", "", token, "").body}
		for _, body := range answers {
			for _, m := range regexp.MustCompile(`"id":"([^"]*)","recordId":"([^"]*)"`).FindAllStringSubmatch(body, -1) {
				if !shortIDs.MatchString(m[1]) || m[1] != m[2] {
					t.Errorf("got %s in %s", m[0], body)
				}
				seen[m[1]]++
			}
		}
		if len(seen) != 3 || seen[rec.ID] < 4 {
			t.Errorf("got %v, want three records, and %s in each answer", seen, rec.ID)
		}
		// The same record added again has another id.
		if got := change("DELETE", "/"+rec.ID, "", 1); got.status != 200 || !strings.Contains(got.body, fmt.Sprintf(`"id":%q,"recordId":%q`, rec.ID, rec.ID)) {
			t.Errorf("got %d %s", got.status, got.body)
		}
		if again := created(t, change("POST", "", `{"type":"A","host":"www","value":"192.0.2.10"}`, 1)); again.ID == rec.ID {
			t.Errorf("the id %s was given twice", rec.ID)
		}
	})
}

// eachLegacyEnv opens a service on each database that creates record ids of the
// previous version, with a raw connection to the database.
func eachLegacyEnv(t *testing.T, f func(t *testing.T, s *legacyEnv)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deed.db")
		db, err := sqldb.OpenSQLite(t.Context(), path)
		f(t, openLegacyEnv(t, db, err, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"))
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		db, err := sqldb.OpenPostgres(t.Context(), url)
		f(t, openLegacyEnv(t, db, err, "pgx", url))
	})
}

type legacyEnv struct {
	*env
	raw *sql.DB
	ids []dnszone.RecordID // that were created
}

func openLegacyEnv(t *testing.T, db *sqldb.DB, err error, driver, dsn string) *legacyEnv {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	db.Timeout = time.Minute         // a busy machine must not fail a test
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	raw, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() }) // connections of this test only
	s := &legacyEnv{env: openEnv(t, options{db: db}), raw: raw}
	s.api.Zones.NewID = func() dnszone.RecordID {
		s.ids = append(s.ids, dnszone.RecordID("rec_"+strings.ToLower(rand.Text())))
		return s.ids[len(s.ids)-1]
	}
	return s
}

// asBefore restores the record ids of the previous version, as if a node of that version
// had changed the zone.
func (s *legacyEnv) asBefore(t *testing.T) {
	t.Helper()
	for _, id := range s.ids {
		if _, err := s.raw.ExecContext(t.Context(), `UPDATE records SET id = $1 WHERE id = $2`, id, id.Short()); err != nil {
			t.Fatal(err)
		}
	}
	s.changed(t)
}

// changed gives all zones new versions: nodes have what they changed themselves in memory.
func (s *legacyEnv) changed(t *testing.T) {
	t.Helper()
	if _, err := s.raw.ExecContext(t.Context(), `UPDATE zones SET changed_at = changed_at + 1`); err != nil {
		t.Fatal(err)
	}
}

// migrate runs the migration to short ids, which is idempotent.
func (s *legacyEnv) migrate(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../sqldb/migrations/00012_record_ids.sql")
	if err == nil {
		_, err = s.raw.ExecContext(t.Context(), string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.changed(t)
}

// After the migration records can be changed and deleted by either id, and every
// earlier paid request can be repeated for free.
func TestOldRecordIDsOverHTTP(t *testing.T) {
	eachLegacyEnv(t, func(t *testing.T, s *legacyEnv) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		type request struct{ method, path, body, payment string }
		var repeated []request
		change := func(method, path, body string, n deed.USDC) answer {
			t.Helper()
			r := request{method, "/dns/first.com" + path, body, s.promise(owner, n*100_000).header(t)}
			repeated = append(repeated, r)
			got := s.dnsCall(t, r.method, r.path, r.body, token, r.payment)
			if got.status > 201 {
				t.Errorf("%s %s: got %d %s", method, path, got.status, got.body)
			}
			return got
		}
		for _, host := range []string{"www", "api", "old"} {
			change("POST", "", fmt.Sprintf(`{"type":"A","host":%q,"value":"192.0.2.10"}`, host), 1)
		}
		www, api, old := s.ids[0], s.ids[1], s.ids[2]
		s.asBefore(t)
		change("PUT", "/"+string(www), `{"ttl":60}`, 1)
		s.asBefore(t)
		change("DELETE", "/"+string(old), "", 1)
		s.asBefore(t)
		s.migrate(t)

		s.wantIDs(t, token, www.Short(), api.Short())
		change("PUT", "/"+string(www), `{"value":"192.0.2.11"}`, 1)
		change("PUT", "/"+string(www.Short()), `{"value":"192.0.2.12"}`, 1)
		change("POST", "/batch", fmt.Sprintf(`{"changes":[{"op":"update","id":%q,"ttl":300},{"op":"delete","id":%q}]}`, www, api), 2)
		s.wantIDs(t, token, www.Short())
		for _, gone := range []dnszone.RecordID{api, api.Short(), old, "rec_" + api.Short()[:13] + "00000000000000"} {
			s.dnsCall(t, "PUT", "/dns/first.com/"+string(gone), `{"ttl":60}`, token, "").expect(t, 404, deed.CodeNotFound)
		}
		paid := s.balance(t, s.payTo)
		for _, r := range repeated {
			got := s.dnsCall(t, r.method, r.path, r.body, token, r.payment)
			id := got.id(t)
			if got.status > 201 || r.method != "DELETE" && !shortIDs.MatchString(id) {
				t.Errorf("%s %s again: got %d %s", r.method, r.path, got.status, got.body)
			}
		}
		change("DELETE", "/"+string(www), "", 1)
		s.wantIDs(t, token)
		if now := s.balance(t, s.payTo); now != paid+100_000 {
			t.Errorf("the treasury got %s for what was paid before, and for one deletion", now-paid)
		}
		s.audit(t)
	})
}

// id returns the id of the record in a response, or of the last one of a batch.
func (a answer) id(t *testing.T) string {
	t.Helper()
	all := regexp.MustCompile(`"id":"([^"]*)"`).FindAllStringSubmatch(a.body, -1)
	if len(all) == 0 {
		t.Fatalf("no id in %s", a.body)
	}
	return all[len(all)-1][1]
}

// wantIDs fails unless the zone lists exactly these records.
func (s *legacyEnv) wantIDs(t *testing.T, token string, want ...dnszone.RecordID) {
	t.Helper()
	got := map[dnszone.RecordID]bool{}
	for _, r := range read[api.RecordList](t, s.dnsCall(t, "GET", "/dns/first.com", "", token, "")).Records {
		got[dnszone.RecordID(r.ID)] = true
	}
	for _, id := range want {
		if !got[id] {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
