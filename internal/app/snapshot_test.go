package app

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/internal/logtest"
)

// A node starts with the zones of its last run, and reads only what has changed since:
// also by a backup that was restored, and also when the file is damaged or missing.
func TestStartFromSnapshot(t *testing.T) {
	c := sandbox(t)
	edit := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", c.databaseFile())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("sales", func(t *testing.T) {
		_, buyer := serveSandbox(t, c)
		for _, domain := range []string{"one.com", "two.com"} {
			if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: domain, DNSRecords: []api.RecordRequest{{Type: "A", Host: "www", Value: "192.0.2.7"}}}); err != nil {
				t.Fatal(err)
			}
		}
	})
	edit(`UPDATE zones SET changed_at = changed_at - 3600000`)
	damage := func() {
		raw, err := os.ReadFile(c.zoneSnapshotFile())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.zoneSnapshotFile(), bytes.Replace(raw, []byte("\xc0\x00\x02\x07"), []byte("\xc0\x00\x02\x08"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []struct {
		name     string
		before   func()
		restored int
		warned   bool
	}{
		{"the first file has no zones", func() {}, 0, false},
		{"without a file", func() { os.Remove(c.zoneSnapshotFile()) }, 0, false},
		{"with the file", func() {}, 2, false},
		{"an older zone", func() {
			edit(`UPDATE zones SET serial = serial - 1, changed_at = changed_at - 5 WHERE domain = 'one.com'`)
		}, 1, false},
		{"a damaged file", damage, 0, true},
		{"the file that replaced it", func() {}, 2, false},
	} {
		t.Run(run.name, func(t *testing.T) {
			run.before()
			var logged logtest.Buffer
			c := c
			c.Log = slog.New(slog.NewTextHandler(&logged, nil))
			a, _ := serveNode(t, c, newKey(t))
			for _, domain := range []string{"www.one.com.", "www.two.com."} {
				if !resolves(t, a, domain) {
					t.Errorf("%s is not served", domain)
				}
			}
			if want := fmt.Sprintf("zones=2 fromSnapshot=%d", run.restored); !strings.Contains(logged.String(), want) {
				t.Errorf("want %s in %s", want, logged.String())
			}
			if strings.Contains(logged.String(), "could not be used") != run.warned {
				t.Errorf("got %s", logged.String())
			}
		})
	}
	t.Run("without the registrar of the names", func(t *testing.T) {
		c := c
		c.Registrars = []RegistrarConfig{{Name: "other", Type: localKind, TLDs: []string{"*"}}}
		a, _ := serveNode(t, c, newKey(t))
		if len(a.warnings) != 1 || !strings.Contains(a.warnings[0], "registrar.local is not configured") {
			t.Errorf("got %q", a.warnings)
		}
	})
}
