package local_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// process simulates a process that opens the file, runs f and ends.
func process(t *testing.T, path string, f func(*local.Registry, *clock)) {
	t.Helper()
	db, err := sqldb.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f(open(db))
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// Names, late orders and faults survive a restart.
func TestRestart(t *testing.T) {
	path := sqldbtest.SQLiteFile(t)
	process(t, path, func(r *local.Registry, _ *clock) {
		if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 1}); err != nil {
			t.Error(err)
		}
		set(t, r, local.FaultLate, 0)
		if err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "b", Name: "two.dev", Years: 1}); err == nil {
			t.Error("the late order was confirmed")
		}
	})
	process(t, path, func(r *local.Registry, c *clock) {
		c.Advance(time.Hour)
		for reference, name := range map[string]deed.Name{"a": "one.dev", "b": "two.dev"} {
			if got, err := r.Order(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: name, Years: 1}); err != nil || got.State != registrar.OrderDone {
				t.Errorf("%s: got %+v, %v, want done", name, got, err)
			}
		}
		if kind, times, err := r.Faults.On(t.Context()); err != nil || kind != local.FaultLate || times != 0 {
			t.Errorf("got %s %d, %v, want late without an end", kind, times, err)
		}
	})
}

// The settings of a name survive a restart, and the code is not stored in plain text.
func TestManagerSurvivesRestart(t *testing.T) {
	path := sqldbtest.SQLiteFile(t)
	hosts := []string{"ns1.example.com", "ns2.example.com"}
	keys := []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
	var code deed.Secret
	process(t, path, func(r *local.Registry, _ *clock) {
		err := r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "one.dev", Years: 1})
		if err == nil {
			code, err = r.AuthCode(t.Context(), "one.dev")
		}
		err = errors.Join(err, r.SetNameservers(t.Context(), "one.dev", hosts), r.SetLock(t.Context(), "one.dev", false), r.SetDS(t.Context(), "one.dev", keys))
		if err != nil {
			t.Fatal(err)
		}
	})
	content, err := os.ReadFile(path)
	if err != nil || bytes.Contains(content, []byte(code.Reveal())) || !bytes.Contains(content, []byte(keys[0].Digest)) {
		t.Errorf("the file contains the code, or does not contain the key; %v", err)
	}
	process(t, path, func(r *local.Registry, c *clock) {
		h, err := r.Holding(t.Context(), "one.dev")
		if err != nil || h.Locked || !slices.Equal(h.Nameservers, hosts) || !slices.Equal(h.DS, keys) {
			t.Errorf("got %+v, %v", h, err)
		}
		c.Advance(60 * 24 * time.Hour)
		if err := r.Leave(t.Context(), "one.dev", code); err != nil {
			t.Error(err)
		}
	})
}
