package redirect

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// newStorage returns the storage of a node.
func newStorage(db *sqldb.DB, now func() time.Time) *storage {
	store := sqldb.Certificates{DB: db, Now: now}
	return &storage{files: store, locks: store, now: now, held: map[string]string{}}
}

// The storage is what certmagic.Storage promises, and a copy of the database reveals
// nothing of it.
func TestStorage(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, err := seal.New(deed.Secret(strings.Repeat("0123456789abcdef", 4)))
		if err != nil {
			t.Fatal(err)
		}
		db.Sealer = box
		now := time.Unix(1_800_000_000, 0)
		s := newStorage(db, func() time.Time { return now })
		values := map[string]string{"a/b/1.key": "secret", "a/b/2.crt": "x", "a/c.json": "{}", "a_b/c": "not below a/b", "ab/c": "likewise", "a%/c": "likewise", "ä/\u00e9": "\xff\x00binary"}
		for range 2 {
			for key, value := range values {
				if err := s.Store(t.Context(), key, []byte(value)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for key, value := range values {
			got, err := s.Load(t.Context(), key)
			info, statErr := s.Stat(t.Context(), key)
			if err != nil || string(got) != value || statErr != nil || !info.IsTerminal || info.Size != int64(len(value)) || !info.Modified.Equal(now) || !s.Exists(t.Context(), key) {
				t.Errorf("%s: got %q, %v, %+v, %v", key, got, err, info, statErr)
			}
		}
		listed := func(folder string, recursive bool, want ...string) {
			t.Helper()
			got, err := s.List(t.Context(), folder, recursive)
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: got %v, %v, want %v", folder, got, err, want)
			}
		}
		listed("a", true, "a/b/1.key", "a/b/2.crt", "a/c.json")
		listed("a", false, "a/b", "a/c.json")
		if info, err := s.Stat(t.Context(), "a/b"); err != nil || info.IsTerminal {
			t.Errorf("got %+v, %v", info, err)
		}
		absent(t, s, "a/b/1", "b", "")
		if err := errors.Join(s.Delete(t.Context(), "a/b"), s.Delete(t.Context(), "a/b"), s.Delete(t.Context(), "missing")); err != nil {
			t.Error(err)
		}
		listed("a", true, "a/c.json")
		listed("a_b", true, "a_b/c")
		db.Sealer = nil
		if got, err := s.Load(t.Context(), "a/c.json"); err != nil || bytes.Contains(got, []byte("{}")) {
			t.Errorf("the database has %q, %v", got, err)
		}
	})
}

// absent fails unless the keys do not exist, and the errors are those that the library
// compares with.
func absent(t *testing.T, s *storage, keys ...string) {
	t.Helper()
	for _, key := range keys {
		_, loadErr := s.Load(t.Context(), key)
		_, statErr := s.Stat(t.Context(), key)
		_, listErr := s.List(t.Context(), key, true)
		for _, err := range []error{loadErr, statErr, listErr} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: got %v", key, err)
			}
		}
		if s.Exists(t.Context(), key) {
			t.Errorf("%q exists", key)
		}
	}
}

// One node at a time has a lock, until it releases it or its lease ends; a node whose
// lease has ended cannot release the lock of the next one.
func TestStorageLocks(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Unix(1_800_000_000, 0)
		clock := func() time.Time { return now }
		one, two := newStorage(db, clock), newStorage(db, clock)
		if err := one.Lock(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if ok, err := one.locks.Lock(t.Context(), "a", "another", now.Add(lockLease)); ok || err != nil {
			t.Fatalf("got %t, %v: the lock is taken", ok, err)
		}
		if err := errors.Join(two.Lock(t.Context(), "b"), two.Unlock(t.Context(), "b"), one.Unlock(t.Context(), "a"), two.Lock(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(lockLease)
		if err := errors.Join(one.Lock(t.Context(), "a"), two.Unlock(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
		if ok, err := two.locks.Lock(t.Context(), "a", "two", now.Add(lockLease)); ok || err != nil {
			t.Errorf("got %t, %v: the first one has the lock", ok, err)
		}
		waits := make(chan error)
		go func() { waits <- two.Lock(t.Context(), "a") }()
		if err := one.Unlock(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := <-waits; err != nil {
			t.Error(err)
		}
	})
}
