package main

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A restorable is a database that a test can put back to where it was.
type restorable struct {
	environ  []string
	backUp   func(t *testing.T)
	restore  func(t *testing.T)
	openFile func() (*sql.DB, error)
}

func restorableSQLite(t *testing.T, dir string) restorable {
	file, copied := filepath.Join(dir, "deed.db"), filepath.Join(t.TempDir(), "copy.db")
	command := func(t *testing.T, args ...string) {
		t.Helper()
		if out, err := exec.Command(binary, append(args, "--data", dir)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	return restorable{
		backUp: func(t *testing.T) { command(t, "admin", "backup", copied) },
		restore: func(t *testing.T) {
			for _, old := range []string{file, file + "-wal", file + "-shm"} {
				if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			raw, err := os.ReadFile(copied)
			if err == nil {
				err = os.WriteFile(file, raw, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		openFile: func() (*sql.DB, error) { return sql.Open("sqlite", file) },
	}
}

func restorablePostgres(t *testing.T, _ string) restorable {
	address := sqldbtest.PostgresURL(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	q := u.Query()
	q.Del("search_path")
	u.RawQuery = q.Encode()
	dump := filepath.Join(t.TempDir(), "deed.dump")
	run := func(t *testing.T, args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	return restorable{
		environ: []string{"DEED_DATABASE_URL=" + address},
		backUp: func(t *testing.T) {
			run(t, "pg_dump", "--format=custom", "--schema="+schema, "--file="+dump, "--dbname="+u.String())
		},
		restore:  func(t *testing.T) { run(t, "pg_restore", "--clean", "--if-exists", "--dbname="+u.String(), dump) },
		openFile: func() (*sql.DB, error) { return sql.Open("pgx", address) },
	}
}

// Line 3: the service is restored to a backup, sells and refunds after the dump as
// before it: no refund is made twice, nothing that was refunded is delivered, the
// next purchase is settled, money that the backup does not know waits for
// `restore finish` and goes back, and the books agree with the chain.
func TestRestoredBackup(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, dir string) restorable{"sqlite": restorableSQLite, "postgres": restorablePostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testRestored(t, dir, open(t, dir))
		})
	}
}

func testRestored(t *testing.T, dir string, db restorable) {
	path, err := failpointBinary()
	if err != nil {
		t.Fatal(err)
	}
	// A node dies with a paid order that it has not placed, and is backed up so.
	killed := startBinary(t, path, dir, append(slices.Clone(db.environ), "FAILPOINT=job: queued")...)
	site := append(slices.Clone(db.environ), "DEED_PUBLIC_URL="+killed.callers)
	refunded, after := newKey(t), newKey(t)
	killed.faucet(t, refunded, "1000.00")
	killed.faucet(t, after, "1000.00")
	killed.call(t, "POST", "/sandbox/faults", "", api.FaultsRequest{Registrar: "refuse", Times: new(1)}, nil)
	order := `{"domain":"refused.com"}`
	payment, _ := killed.payment(t, refunded, "/domains/register", order)
	killed.send(t, "/domains/register", order, payment)
	if err := killed.cmd.Wait(); err == nil {
		t.Fatalf("it did not die: %s", killed.log)
	}
	db.backUp(t)

	// It goes on: the order is refused and refunded, and another name is sold.
	n := start(t, dir, site...)
	waitFor(t, func() bool {
		status, body := n.send(t, "/domains/register", order, payment)
		return status == 500 && strings.Contains(body, `"confirmed"`)
	})
	sold := `{"domain":"sold.com"}`
	lost, _ := n.payment(t, after, "/domains/register", sold)
	if status, body := n.send(t, "/domains/register", sold, lost); status != 201 {
		t.Fatalf("got %d %s", status, body)
	}
	n.stop(t)

	// The backup is restored, and the registry would say yes this time.
	db.restore(t)
	raw, err := db.openFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`DELETE FROM registry_faults`); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	restoredAgain(t, dir, db, site, restoredOrders{order, payment, crypto.PubkeyToAddress(refunded.PublicKey).Hex(), crypto.PubkeyToAddress(after.PublicKey).Hex()})
}

type restoredOrders struct{ order, payment, refunded, lost string }

// restoredAgain starts a service on a restored database and looks at everything.
func restoredAgain(t *testing.T, dir string, db restorable, site []string, o restoredOrders) {
	t.Helper()
	n := start(t, dir, site...)
	var status int
	var body string
	waitFor(t, func() bool {
		status, body = n.send(t, "/domains/register", o.order, o.payment)
		return status == 500 && strings.Contains(body, `"confirmed"`) || status == 201
	})
	if status != 500 {
		t.Errorf("what was refunded was delivered: %d %s", status, body)
	}
	if got := n.give(t, o.refunded, "1.00"); got != "1001.00" {
		t.Errorf("the refunded wallet has %s", got)
	}
	next := newKey(t)
	n.faucet(t, next, "1000.00")
	n.buy(t, next, "/domains/register", map[string]string{"domain": "next.com"}, 201)
	if got := n.give(t, o.lost, "1.00"); got != "987.94" {
		t.Errorf("money without a row did not wait: the wallet has %s", got)
	}
	n.stop(t)
	lost := "  13.06 USDC  " + strings.ToLower(o.lost) + "  "
	out, err := finishRestored(dir, db, "--config", unsearchable(t, ""))
	if err == nil || !strings.Contains(out, "not configured: local:") {
		t.Errorf("restore finish without the registrar of the names: %v: %s", err, out)
	}
	out, err = finishRestored(dir, db, "--config", unsearchable(t, "[registrar.local]\ntype = \"local\"\ntlds = [\"net\"]\n"))
	if err == nil || !strings.Contains(out, lost+"UNDECIDED: registrar outside: orders cannot be found by their reference") || !strings.Contains(out, "0 payments decided on") {
		t.Errorf("restore finish with a registrar that cannot search: %v: %s", err, out)
	}
	checkpoint := filepath.Join(dir, "audit.checkpoint")
	if err := os.WriteFile(checkpoint, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = finishRestored(dir, db)
	if _, err := os.Stat(checkpoint); !os.IsNotExist(err) {
		t.Errorf("the next audit does not start at the beginning: %v", err)
	}
	if err != nil || !strings.Contains(out, lost+"is refunded") {
		t.Errorf("restore finish: %v: %s", err, out)
	}
	n = start(t, dir, site...)
	raw, err := db.openFile()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()        // only a test's connection
	waitFor(t, func() bool { // the chain has it before the books have
		var open int
		err := raw.QueryRow(`SELECT count(*) FROM payments WHERE state IN ('refund_due', 'refunding')`).Scan(&open)
		return err == nil && open == 0
	})
	if got := n.give(t, o.lost, "1.00"); got != "1002.00" {
		t.Errorf("the wallet whose order was lost has %s", got)
	}
	n.audit(t, dir, db.environ, "3 transfers of 39.18 USDC", "2 refunds of 26.12 USDC", "0 payments and jobs are open")
	n.stop(t)
}

// finishRestored runs the command that decides on lost payments.
func finishRestored(dir string, db restorable, more ...string) (string, error) {
	args := append([]string{"admin", "restore", "finish", "--data", dir, "--chain-listen", "127.0.0.1:0", "--dns-listen", "off"}, more...)
	cmd := exec.Command(binary, args...)
	cmd.Env = append(slices.Clone(db.environ), "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// unsearchable returns a configuration with a registrar that cannot find orders by their
// reference, and more. Nobody listens at its address.
func unsearchable(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	path, password := filepath.Join(dir, "deed.toml"), filepath.Join(dir, "password")
	for file, text := range map[string]string{password: "secret", path: fmt.Sprintf(`
%s
[registrar.outside]
type = "epp"
tlds = "*"
address = "127.0.0.1:1"
client_id = "us"
password_file = %q
`, more, password)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// give gives a wallet money, and returns what it has then.
func (n *node) give(t *testing.T, wallet, amount string) string {
	t.Helper()
	var got api.Faucet
	if status := n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: wallet, Amount: amount}, &got); status != 200 {
		t.Fatalf("the faucet: got %d", status)
	}
	return got.Balance
}
