package sqldb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const day = 24 * time.Hour

// A used nonce opens no other session, even if that was checked before the nonce expired and
// is stored after it: the signature of a contract wallet takes a while, and the node may have
// been stopped meanwhile. After that the nonce is deleted.
func TestUsedNonceIsKnownAfterItsExpiry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		clock := noon
		s := sqldb.NewSessions(db, func() time.Time { return clock })
		create(t, s, "nonce", "f0", "h0")
		for i, after := range []time.Duration{signin.NonceLifetime, signin.NonceLifetime + 9*time.Minute} {
			clock = noon.Add(after)
			other := session(fmt.Sprint("n", i), fmt.Sprint("f", i+1), fmt.Sprint("h", i+1)) // deletes what has expired
			other.NonceEnds = clock.Add(signin.NonceLifetime)
			if _, err := s.CreateSession(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateSession(t.Context(), session("nonce", "again", "again")); deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("after %s: got %v", after, err)
			}
		}
		clock = noon.Add(time.Hour)
		create(t, s, "last", "f3", "h3") // it has expired, too
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM used_nonces`); err != nil || n != "0" {
			t.Errorf("%s nonces are stored, %v, want none", n, err)
		}
	})
}

// A used token ends its family for 30 days, which is at least until it would have
// expired, and an expired one is reported as such for 30 days. Then both are deleted, like
// those that were ended.
func TestTokensAreDeleted(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		clock := noon
		s := sqldb.NewSessions(db, func() time.Time { return clock })
		signIn := func(id string, after time.Duration) {
			t.Helper()
			clock = noon.Add(after)
			ses := session("n"+id, "f"+id, id)
			ses.Refresh, ses.NonceEnds = refresh(id, clock), clock.Add(signin.NonceLifetime)
			if _, err := s.CreateSession(t.Context(), ses); err != nil {
				t.Fatal(err)
			}
		}
		use := func(from, to string, want deed.Code) {
			t.Helper()
			if got := rotate(t, s, from, to, clock); got != want {
				t.Errorf("%s after %s: got %q, want %q", from, clock.Sub(noon), got, want)
			}
		}
		stored := func(want string) {
			t.Helper()
			if n, err := db.Text(t.Context(), `SELECT count(*) FROM refresh_tokens`); err != nil || n != want {
				t.Errorf("after %s: %s tokens are stored, %v, want %s", clock.Sub(noon), n, err, want)
			}
		}
		signIn("a", 0)
		signIn("b", 0)
		signIn("c", 0)
		use("a", "a1", "")
		use("b", "b1", "")
		signIn("d", 29*day)
		stored("6")
		use("b", "b2", deed.CodeTokenInvalid)  // it was used within 30 days,
		use("b1", "b2", deed.CodeTokenInvalid) // so its family has ended
		use("a1", "a2", "")
		signIn("e", 30*day)
		stored("6") // without a and b
		use("a", "a3", deed.CodeTokenInvalid)
		use("a2", "a3", "") // it goes on
		signIn("f", 59*day)
		use("c", "c1", deed.CodeTokenExpired)
		stored("6") // c, a2, a3, d, e, f
		signIn("g", 60*day)
		use("c", "c1", deed.CodeTokenInvalid)
	})
}

// Few tokens are deleted at a time, and all others are not read for that.
func TestTokensAreDeletedByIndex(t *testing.T) {
	db, err := sqldb.OpenPostgres(t.Context(), sqldbtest.MigratedPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO wallets (address, generation, created_at, last_active_at) VALUES ('%s', 1, 1, 1)`, wallet),
		fmt.Sprintf(`INSERT INTO refresh_tokens (hash, family, wallet, issued_at, expires_at, used_at)
			SELECT md5(n::text), 'f' || n, '%s', n, n + 1000, n FROM generate_series(1, 20000) n`, wallet),
		`ANALYZE refresh_tokens`,
	} {
		if err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range db.DeleteTokens() {
		plan, err := db.Text(t.Context(), "EXPLAIN (FORMAT JSON) "+strings.NewReplacer("$1", "1050", "$2", "5000").Replace(statement))
		if err != nil || strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "Index") {
			t.Errorf("%s: %s, %v", statement, plan, err)
		}
	}
}

// A wallet has a limited number of sessions: with one more, those that were refreshed the
// longest time ago end.
func TestSessionsOfAWalletAreLimited(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		clock := noon
		s := sqldb.NewSessions(db, func() time.Time { return clock })
		for i := range signin.MaxSessions {
			ses := session(fmt.Sprint("n", i), fmt.Sprint("f", i), fmt.Sprint("h", i))
			ses.Refresh.Issued = noon.Add(time.Duration(i) * time.Second)
			if _, err := s.CreateSession(t.Context(), ses); err != nil {
				t.Fatal(err)
			}
		}
		clock = noon.Add(time.Hour)
		if got := rotate(t, s, "h0", "h0x", clock); got != "" {
			t.Fatalf("with all sessions: got %q", got)
		}
		for i := range signin.EndedAtOnce {
			last := session(fmt.Sprint("m", i), fmt.Sprint("g", i), fmt.Sprint("last", i))
			last.Refresh.Issued = clock
			if _, err := s.CreateSession(t.Context(), last); err != nil {
				t.Fatal(err)
			}
		}
		for hash, want := range map[string]deed.Code{"h0x": "", "h1": deed.CodeTokenInvalid, "h100": deed.CodeTokenInvalid, "h101": "", "last0": "", "last99": ""} {
			if got := rotate(t, s, hash, hash+"y", clock); got != want {
				t.Errorf("%s: got %q, want %q", hash, got, want)
			}
		}
		if n, err := s.RevokeWallet(t.Context(), wallet, clock); err != nil || n != signin.MaxSessions {
			t.Errorf("got %d sessions, %v, want %d", n, err, signin.MaxSessions)
		}
	})
}
