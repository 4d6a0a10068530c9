package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/sqldb/sqldbtest"
)

const freeDNS = "DEED_DNS_LISTEN=127.0.0.1:0"

// serial asks the name server of a node for the serial of a zone, until it is
// above one.
func (n *node) serial(t *testing.T, domain string, above uint32) uint32 {
	t.Helper()
	question := new(dns.Msg).SetQuestion(domain+".", dns.TypeSOA)
	for t.Context().Err() == nil {
		answer, err := dns.Exchange(question, n.sandbox(t).DNS)
		if err != nil {
			t.Fatal(err)
		}
		for _, rr := range answer.Answer {
			if soa, ok := rr.(*dns.SOA); ok && soa.Serial > above {
				return soa.Serial
			}
		}
	}
	return 0
}

// A backup is taken while the service runs, holds what was there, and is never
// written over. Restored, it is a service that works, under serials that are
// above all that were given out.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir, freeDNS)
	key := n.rich(t)
	n.buy(t, key, "/domains/register", map[string]string{"domain": "kept.com"}, 201)
	file := filepath.Join(t.TempDir(), "backup.db")
	out, err := exec.Command(binary, "admin", "backup", file, "--data", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "holds the database") {
		t.Fatalf("got %v: %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	out, err = exec.Command(binary, "admin", "backup", file, "--data", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "already exists") {
		t.Errorf("got %v: %s", err, out)
	}
	n.buy(t, key, "/domains/register", map[string]string{"domain": "lost.com"}, 201)
	before := n.serial(t, "kept.com", 0)
	n.stop(t)

	for _, gone := range []string{"deed.db", "deed.db-wal", "deed.db-shm"} {
		_ = os.Remove(filepath.Join(dir, gone)) // it may have gone already
	}
	if err := os.Rename(file, filepath.Join(dir, "deed.db")); err != nil {
		t.Fatal(err)
	}
	if out, err := admin("republish", dir, nil); err != nil || out != "1 zones get a new serial as soon as the service runs\n" {
		t.Fatalf("got %v: %s", err, out)
	}
	n = start(t, dir, freeDNS)
	n.see(t, "kept.com", "active")
	n.see(t, "lost.com", "")
	n.serial(t, "kept.com", before)
}

func TestRepublish(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dir string, environ []string, db *sql.DB) {
		n := start(t, dir, append(environ, freeDNS)...)
		n.buy(t, n.rich(t), "/domains/register", map[string]string{"domain": "first.com"}, 201)
		before := n.serial(t, "first.com", 0)
		n.stop(t)
		if _, err := db.Exec(`UPDATE zones SET serial = 7`); err != nil {
			t.Fatal(err)
		}
		if out, err := admin("republish", dir, environ); err != nil || !strings.HasPrefix(out, "1 zones") {
			t.Fatalf("got %v: %s", err, out)
		}
		n = start(t, dir, append(environ, freeDNS)...)
		n.serial(t, "first.com", before-1) // it may be the same second
	})
}

func TestBackupOfPostgres(t *testing.T) {
	cmd := exec.Command(binary, "admin", "backup", filepath.Join(t.TempDir(), "backup"), "--database-url", sqldbtest.PostgresURL(t))
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "pg_dump") {
		t.Errorf("got %v: %s", err, out)
	}
}
