package sqldb_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const wallet deed.Wallet = "0x71c7656ec7ab88b098defb751b7401b5f6d8976f"

var noon = time.Unix(1_800_000_000, 0)

func refresh(hash string, issued time.Time) signin.RefreshToken {
	return signin.RefreshToken{Hash: hash, Issued: issued, Expires: issued.Add(signin.RefreshLifetime)}
}

func session(nonce, family, hash string) signin.Session {
	return signin.Session{Wallet: wallet, Family: family, Nonce: signin.Nonce(nonce), NonceEnds: noon.Add(signin.NonceLifetime), Refresh: refresh(hash, noon)}
}

func eachSessions(t *testing.T, f func(t *testing.T, s *sqldb.Sessions)) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		f(t, sqldb.NewSessions(db, func() time.Time { return noon }))
	})
}

func create(t *testing.T, s *sqldb.Sessions, nonce, family, hash string) int64 {
	t.Helper()
	n, err := s.CreateSession(t.Context(), session(nonce, family, hash))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rotate exchanges a token and returns the code of its error.
func rotate(t *testing.T, s *sqldb.Sessions, from, to string, at time.Time) deed.Code {
	t.Helper()
	w, _, err := s.RotateRefresh(t.Context(), from, refresh(to, at))
	if err == nil && w != wallet {
		t.Errorf("got wallet %s", w)
	}
	return deed.CodeOf(err)
}

func TestNonceOpensOneSession(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		var wg sync.WaitGroup
		var opened atomic.Int64
		for i := range 100 {
			wg.Go(func() {
				_, err := s.CreateSession(t.Context(), session("nonce", fmt.Sprint("f", i), fmt.Sprint("h", i)))
				switch deed.CodeOf(err) {
				case "":
					opened.Add(1)
				case deed.CodeValidation:
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if opened.Load() != 1 {
			t.Errorf("%d sessions were opened, want 1", opened.Load())
		}
		if n, err := s.RevokeWallet(t.Context(), wallet, noon); err != nil || n != 1 {
			t.Errorf("%d sessions are there, %v, want 1", n, err)
		}
	})
}

func TestRefreshTokenIsExchangedOnce(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		create(t, s, "n1", "f1", "h0")
		var wg sync.WaitGroup
		var won atomic.Int64
		for i := range 50 {
			wg.Go(func() {
				switch code := rotate(t, s, "h0", fmt.Sprint("h0-", i), noon); code {
				case "":
					won.Add(1)
				case deed.CodeTokenInvalid:
				default:
					t.Errorf("got %s", code)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d exchanges won, want 1", won.Load())
		}
	})
}

func TestUsedTokenEndsItsFamily(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		create(t, s, "n1", "f1", "a0")
		create(t, s, "n2", "f2", "b0")
		steps := []struct {
			from, to string
			want     deed.Code
		}{
			{"a0", "a1", ""},
			{"a1", "a2", ""},
			{"a0", "x0", deed.CodeTokenInvalid}, // reused after theft
			{"a2", "x1", deed.CodeTokenInvalid}, // the family is ended
			{"b0", "b1", ""},                    // the other is not
			{"unknown", "x2", deed.CodeTokenInvalid},
		}
		for _, step := range steps {
			if got := rotate(t, s, step.from, step.to, noon); got != step.want {
				t.Errorf("%s: got %q, want %q", step.from, got, step.want)
			}
		}
	})
}

func TestExpiredAndUnknownAreToldApart(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		create(t, s, "n1", "f1", "a0")
		create(t, s, "n2", "f2", "b0")
		end := noon.Add(signin.RefreshLifetime)
		if got := rotate(t, s, "a0", "a1", end.Add(-time.Second)); got != "" {
			t.Errorf("a second before its end: got %q", got)
		}
		if got := rotate(t, s, "b0", "b1", end); got != deed.CodeTokenExpired {
			t.Errorf("at its end: got %q", got)
		}
		if got := rotate(t, s, "a0", "a2", end); got != deed.CodeTokenInvalid {
			t.Errorf("used and expired: got %q", got)
		}
	})
}

func TestRevokeEndsEverythingOfOneWallet(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		first := create(t, s, "n1", "f1", "a0")
		create(t, s, "n2", "f2", "b0")
		other := signin.Session{Wallet: "0x0000000000000000000000000000000000000001", Family: "f3", Nonce: "n3", NonceEnds: noon.Add(signin.NonceLifetime), Refresh: refresh("c0", noon)}
		if _, err := s.CreateSession(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Generation(t.Context(), wallet); err != nil || n != first {
			t.Errorf("before: got %d, %v, want %d", n, err, first)
		}
		if n, err := s.RevokeWallet(t.Context(), wallet, noon); err != nil || n != 2 {
			t.Errorf("got %d sessions, %v, want 2", n, err)
		}
		if n, err := s.Generation(t.Context(), wallet); err != nil || n != first+1 {
			t.Errorf("after: got %d, %v, want %d", n, err, first+1)
		}
		for _, hash := range []string{"a0", "b0"} {
			if got := rotate(t, s, hash, hash+"x", noon); got != deed.CodeTokenInvalid {
				t.Errorf("%s: got %q", hash, got)
			}
		}
		if _, _, err := s.RotateRefresh(t.Context(), "c0", refresh("c1", noon)); err != nil {
			t.Errorf("the other wallet: %v", err)
		}
		if n := create(t, s, "n4", "f4", "d0"); n != first+1 {
			t.Errorf("a new session has generation %d, want %d", n, first+1)
		}
	})
}

// Concurrent sign-ins, exchanges and revocations of one wallet neither deadlock nor fail
// with an error without a code.
func TestSessionsRaced(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		create(t, s, "n", "f", "h")
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				hash := fmt.Sprint("r", i)
				if _, err := s.CreateSession(t.Context(), session(hash, hash, hash)); err != nil {
					t.Error(err)
				}
				if code := rotate(t, s, hash, hash+"x", noon); code != "" && code != deed.CodeTokenInvalid {
					t.Errorf("rotate: %s", code)
				}
				if code := rotate(t, s, hash, hash+"y", noon); code != deed.CodeTokenInvalid {
					t.Errorf("rotate again: %s", code)
				}
			})
			wg.Go(func() {
				if _, err := s.RevokeWallet(t.Context(), wallet, noon); err != nil {
					t.Error(err)
				}
				if _, err := s.Generation(t.Context(), wallet); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n, err := s.Generation(t.Context(), wallet); err != nil || n != 21 {
			t.Errorf("got generation %d, %v, want 21", n, err)
		}
	})
}

// A revocation is effective on other nodes immediately.
func TestRevocationReachesEveryNode(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	var nodes [2]*sqldb.Sessions
	for i := range nodes {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // before the schema goes away
		nodes[i] = sqldb.NewSessions(db, time.Now)
	}
	create(t, nodes[0], "n", "f", "h")
	for i := range 10 {
		if _, err := nodes[i%2].RevokeWallet(t.Context(), wallet, noon); err != nil {
			t.Fatal(err)
		}
		if n, err := nodes[1-i%2].Generation(t.Context(), wallet); err != nil || n != int64(i+2) {
			t.Errorf("got %d, %v, want %d", n, err, i+2)
		}
	}
}

func TestGenerationOutlivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deed.db")
	for i := range 3 {
		db, err := sqldb.OpenSQLite(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		s := sqldb.NewSessions(db, time.Now)
		if i == 0 {
			create(t, s, "n", "f", "h")
		}
		if n, err := s.Generation(t.Context(), wallet); err != nil || n != int64(i+1) {
			t.Errorf("start %d: got %d, %v", i, n, err)
		}
		if _, err := s.RevokeWallet(t.Context(), wallet, noon); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNodesWithOtherKeysAreFoundOut(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		steps := []struct {
			name   string
			prints map[string]string
			good   bool
		}{
			{"the first node", map[string]string{"a": "1"}, true},
			{"the next with the same", map[string]string{"a": "1"}, true},
			{"one with keys of its own", map[string]string{"b": "2"}, false},
			{"one with the same ID for another key", map[string]string{"a": "2"}, false},
			{"after a rotation", map[string]string{"c": "3", "a": "1"}, true},
			{"when the old key is gone", map[string]string{"c": "3"}, true},
		}
		for _, step := range steps {
			if err := s.CheckKeys(t.Context(), step.prints); (err == nil) != step.good {
				t.Errorf("%s: got %v", step.name, err)
			}
		}
	})
}

func TestUnknownWalletHasNoGeneration(t *testing.T) {
	eachSessions(t, func(t *testing.T, s *sqldb.Sessions) {
		for range 2 {
			if n, err := s.Generation(t.Context(), wallet); err != nil || n != 0 {
				t.Errorf("got %d, %v, want 0", n, err)
			}
		}
		if want := create(t, s, "n", "f", "h"); want != 1 {
			t.Errorf("got %d", want)
		}
		if n, err := s.Generation(t.Context(), wallet); err != nil || n != 1 {
			t.Errorf("after signing in: got %d, %v, want 1", n, err)
		}
	})
}
