package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// admin runs `deed admin` beside a node and returns what it printed.
func admin(task, dir string, environ []string, more ...string) (string, error) {
	cmd := exec.Command(binary, append([]string{"admin", task, "--data", dir}, more...)...)
	cmd.Env = environ
	out, err := cmd.Output()
	return string(out), err
}

// eachDatabase runs f with the environment of a node on each database, and a way
// to break it.
func eachDatabase(t *testing.T, f func(t *testing.T, dir string, environ []string, db *sql.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		f(t, dir, nil, openRaw(t, "sqlite", filepath.Join(dir, "deed.db")))
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		f(t, t.TempDir(), []string{"DEED_DATABASE_URL=" + url}, openRaw(t, "pgx", url))
	})
}

func openRaw(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // only a test's connection
	return db
}

// An export has every name, and its last line proves that it is whole.
func TestExport(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dir string, environ []string, _ *sql.DB) {
		n := start(t, dir, environ...)
		key := n.rich(t)
		names := []string{"first.com", "second.com", "xn--bcher-kva.com"}
		for _, name := range names {
			n.buy(t, key, "/domains/register", map[string]string{"domain": name}, 201)
		}
		out, err := admin("export", dir, environ) // while it runs
		if err != nil {
			t.Fatal(err)
		}
		above, last, _ := strings.Cut(out, "# ")
		if want := fmt.Sprintf("count 3 sha256 %x\n", sha256.Sum256([]byte(above))); last != want {
			t.Errorf("got %q, want %q", last, want)
		}
		rows, err := csv.NewReader(strings.NewReader(above)).ReadAll()
		if err != nil || len(rows) != 4 || strings.Join(rows[0], ",") != strings.Join(exportColumns, ",") {
			t.Fatalf("got %v, %v", rows, err)
		}
		var list api.Transactions
		n.call(t, "GET", "/account/transactions", n.signIn(t, key).AccessToken, nil, &list)
		for i, row := range rows[1:] {
			paid := list.Transactions[slices.IndexFunc(list.Transactions, func(m api.Transaction) bool { return m.Domain == names[i] })]
			want := []string{
				names[i], names[i], strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex()), "active", row[4], row[5], "yes", "ns1.deed.example ns2.deed.example", row[8], "", // the DS comes a moment later
				row[10], paid.TransactionID, *paid.TxHash,
			}
			if !strings.HasPrefix(row[10], "job_") || !strings.HasSuffix(row[10], "-1") || strings.HasPrefix(row[10], paid.JobID) {
				t.Errorf("the order's reference is %s", row[10])
			}
			if i == 2 {
				want[1] = "bücher.com"
			}
			d := n.see(t, names[i], "active")
			if strings.Join(row, ",") != strings.Join(want, ",") || row[4] != d.RegisteredAt.Format("2006-01-02T15:04:05Z") || row[5] != d.ExpiresAt.Format("2006-01-02T15:04:05Z") {
				t.Errorf("got %v, want %v", row, want)
			}
		}
		n.stop(t)
		if again, err := admin("export", dir, environ); err != nil || withoutDS(again) != withoutDS(out) {
			t.Errorf("of a stopped service: got %v: %s", err, again)
		}
	})
}

// A reconciliation fails when the registry has something else than we.
func TestReconcileCommand(t *testing.T) {
	eachDatabase(t, func(t *testing.T, dir string, environ []string, db *sql.DB) {
		n := start(t, dir, environ...)
		key := n.rich(t)
		for _, name := range []string{"first.com", "second.com"} {
			n.buy(t, key, "/domains/register", map[string]string{"domain": name}, 201)
		}
		var there api.Elsewhere
		n.call(t, "POST", "/sandbox/elsewhere", "", api.ElsewhereRequest{Domain: "moving.com"}, &there)
		n.buy(t, key, "/domains/transfer", map[string]string{"domain": "moving.com", "authCode": there.AuthCode}, 202)
		waitFor(t, func() bool { // a stop while a DS is set, which is stored first, would leave a difference
			var signed int
			err := db.QueryRow(`SELECT count(*) FROM registry_names WHERE ds <> '' AND name IN ('first.com', 'second.com')`).Scan(&signed)
			return err == nil && signed == 2
		})
		n.stop(t) // else it would mend what we break
		if _, err := db.Exec(`UPDATE registry_orders SET due_at = placed_at WHERE name = 'moving.com'`); err != nil {
			t.Fatal(err)
		}
		if out, err := admin("reconcile", dir, environ); err != nil || out != "2 names in the database, 2 at the registry, 0 differences\n" {
			t.Errorf("got %v: %s", err, out)
		}
		var placed int // what is due is left undone: we only read
		if err := db.QueryRow(`SELECT count(*) FROM registry_orders WHERE name = 'moving.com' AND state = 'placed'`).Scan(&placed); err != nil || placed != 1 {
			t.Errorf("got %d, %v", placed, err)
		}
		if _, err := db.Exec(`UPDATE registry_names SET locked = 0 WHERE name = 'first.com'`); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`UPDATE registry_names SET account = 'elsewhere' WHERE name = 'second.com'`); err != nil {
			t.Fatal(err)
		}
		out, err := admin("reconcile", dir, environ)
		failed, _ := err.(*exec.ExitError)
		if failed == nil || failed.ExitCode() != 1 || !strings.Contains(string(failed.Stderr), "differ") {
			t.Errorf("got %v", err)
		}
		var lines []string
		for line := range strings.Lines(out) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		owner := strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex())
		want := []string{
			"name what ours the registry's", "first.com lock locked unlocked", "second.com missing at the registry active of " + owner + " -", "",
			"2 names in the database, 1 at the registry, 2 differences",
		}
		if strings.Join(lines, "\n") != strings.Join(want, "\n") {
			t.Errorf("got %q, want %q", lines, want)
		}
		state := filepath.Join(t.TempDir(), "state") // of a run that was stopped after the first name
		if err := os.WriteFile(state, []byte("first.com\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err = admin("reconcile", dir, environ, "--state", state)
		if _, gone := os.Stat(state); err == nil || strings.Contains(out, "first.com") || !strings.Contains(out, "1 names in the database, 0 at the registry, 1 differences") || !os.IsNotExist(gone) {
			t.Errorf("continued: got %v, %v: %s", err, gone, out)
		}
	})
}

// Without a database there is nothing to look at, and none is made.
func TestAdminMakesNoDatabase(t *testing.T) {
	for _, task := range []string{"audit", "export", "reconcile"} {
		dir := t.TempDir()
		if out, err := admin(task, dir, nil); err == nil {
			t.Errorf("%s: got %s", task, out)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
			t.Errorf("%s left %v, %v", task, files, err)
		}
	}
}

// dsColumn matches the DS of a zone, which a registry has a moment after the name.
var dsColumn = regexp.MustCompile(`\d+ 13 2 [0-9a-f]{64}`)

// withoutDS returns the rows of an export without their DS, and without its last line.
func withoutDS(export string) string {
	rows, _, _ := strings.Cut(export, "# ")
	return dsColumn.ReplaceAllString(rows, "")
}
