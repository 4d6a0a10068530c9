package sqldb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Whatever a registry writes can be stored, once.
func TestStoreMessage(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := time.Now()
		store := sqldb.Messages{DB: db, Now: time.Now}
		for _, m := range []registrar.Message{
			{ID: "1", Kind: registrar.MessageName, Name: "first.com", Text: "deleted", At: at},
			{ID: "1", Kind: registrar.MessageName, Name: "first.com", Text: "deleted", At: at},
			{ID: "\xff\x00", Kind: registrar.MessageOther, Name: deed.Name("\x00.com"), Status: "\xfe", Text: strings.Repeat("é", 5000), Raw: []byte{0, 255}},
			{},
		} {
			if err := store.StoreMessage(t.Context(), "outside", m); err != nil {
				t.Errorf("%+v: %v", m, err)
			}
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM registry_messages`); err != nil || n != "3" {
			t.Errorf("got %s messages, %v", n, err)
		}
	})
}

// A message about a host of very many names makes a limited number of them due: all of them in
// one transaction could take too long, and the message would stop those behind it.
func TestMessageAboutAHostOfManyNames(t *testing.T) {
	db := sqldbtest.Postgres(t)
	s := newTestEnv(db)
	s.sell(t, "a.com")
	for _, query := range []string{
		`ALTER TABLE registrations DROP CONSTRAINT registrations_payment_id_fkey`,
		`INSERT INTO registrations (domain, owner, status, reference, backend, payment_id, created_at, expires_at, updated_at, nameservers, next_at)
		 SELECT 'n' || i || '.com', owner, status, 'n' || i, backend, 'n' || i, created_at, expires_at, updated_at, 'ns1.elsewhere.net', 5
		   FROM generate_series(1, 1500) i CROSS JOIN registrations WHERE domain = 'a.com'`,
	} {
		if err := db.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	store := sqldb.Messages{DB: db, Now: time.Now}
	if err := store.StoreMessage(t.Context(), "outside", registrar.Message{ID: "1", Kind: registrar.MessageOther, Host: "ns1.elsewhere.net"}); err != nil {
		t.Fatal(err)
	}
	due, err := db.Text(t.Context(), `SELECT CAST(count(*) AS TEXT) FROM registrations WHERE next_at = 0 AND domain LIKE 'n%'`)
	if err != nil || due != "1000" {
		t.Errorf("due: got %s, %v", due, err)
	}
}

// A message about a host is stored although the names that use it cannot be read: the messages
// behind it are read.
func TestMessageAboutAHostIsStored(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Exec(t.Context(), `ALTER TABLE registrations RENAME COLUMN next_at TO other`); err != nil {
			t.Fatal(err)
		}
		store := sqldb.Messages{DB: db, Now: time.Now}
		m := registrar.Message{ID: "1", Kind: registrar.MessageOther, Host: "ns1.elsewhere.net"}
		if err := store.StoreMessage(t.Context(), "outside", m); err == nil {
			t.Error("the names were read")
		}
		if err := store.StoreMessage(t.Context(), "outside", m); err != nil {
			t.Errorf("again: %v", err)
		}
	})
}

// A message about a host makes the names due that use it, and no others, whatever the
// host is called.
func TestMessageAboutAHost(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		for name, servers := range map[deed.Name]string{"a.com": "ns1.elsewhere.net ns2.elsewhere.net", "b.com": "ns1-elsewhere.net"} {
			s.sell(t, name)
			if err := db.Exec(t.Context(), `UPDATE registrations SET nameservers = $1, next_at = 5 WHERE domain = $2`, servers, name); err != nil {
				t.Fatal(err)
			}
		}
		store := sqldb.Messages{DB: db, Now: time.Now}
		for i, step := range []struct{ host, due string }{
			{"%", ""}, {"ns_.elsewhere.net", ""}, {`ns1.elsewhere.net\`, ""}, {"elsewhere.net", ""}, {"ns2.elsewhere.net", "a.com"},
		} {
			if err := store.StoreMessage(t.Context(), "outside", registrar.Message{ID: fmt.Sprint(i), Kind: registrar.MessageOther, Host: step.host}); err != nil {
				t.Fatal(err)
			}
			due, err := db.Text(t.Context(), `SELECT coalesce(max(domain), '') FROM registrations WHERE next_at = 0`)
			if err != nil || due != step.due {
				t.Errorf("%q: due: got %q, %v, want %q", step.host, due, err, step.due)
			}
		}
	})
}
