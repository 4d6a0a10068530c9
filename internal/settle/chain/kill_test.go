package chain_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An errand is what a process of its own is told to settle, and where to die.
type childTask struct {
	Database, URL, Gas, Refund, Treasury, Step string
	Auth                                       settle.Authorization
}

// openDatabase opens a PostgreSQL by its address, or a SQLite file by its path.
func openDatabase(ctx context.Context, where string) (db *sqldb.DB, err error) {
	if strings.HasPrefix(where, "postgres") {
		db, err = sqldb.OpenPostgres(ctx, where)
	} else {
		db, err = sqldb.OpenSQLite(ctx, where)
	}
	if err != nil {
		return nil, err
	}
	db.Timeout = time.Minute // a busy machine must not fail a test
	return db, nil
}

// TestChildProcess is the process that is killed. It does nothing when run by itself.
func TestChildProcess(t *testing.T) {
	var e childTask
	if json.Unmarshal([]byte(os.Getenv("TEST_CHILD_TASK")), &e) != nil {
		t.Skip("run by TestKilled")
	}
	db, err := openDatabase(t.Context(), e.Database)
	if err != nil {
		t.Fatal(err)
	}
	cfg := envConfig(t, e.URL, db)
	gasKey, err := crypto.HexToECDSA(e.Gas)
	if err != nil {
		t.Fatal(err)
	}
	refundKey, err := crypto.HexToECDSA(e.Refund)
	if err != nil {
		t.Fatal(err)
	}
	cfg.GasSigner, cfg.RefundSigner = file.New(gasKey), file.New(refundKey)
	copy(cfg.PayTo[:], bytesOf(e.Treasury))
	cfg.Now = time.Now
	cfg.Step = func(name string) {
		if name == e.Step {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // it comes at once, but not before the call returns
		}
	}
	s, err := chain.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatal(s.Settle(t.Context(), e.Auth))
}

// A process that is killed with -9 leaves all that its successor needs.
func TestKilled(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return sqldbtest.SQLiteFile(t) },
		"postgres": func(t *testing.T) string { return sqldbtest.MigratedPostgresURL(t) },
	} {
		for _, step := range []string{"before store", "after store", "after send"} {
			t.Run(step+"/"+name, func(t *testing.T) { testKilled(t, step, where(t), false) })
			t.Run(step+"/undeployed wallet/"+name, func(t *testing.T) { testKilled(t, step, where(t), true) })
		}
	}
}

func testKilled(t *testing.T, step, database string, undeployed bool) {
	env := newEnv(t, nil)
	payment := env.pay("1")
	if undeployed {
		payment = env.futureWallet().pays("1")
	}
	e := childTask{
		Database: database, URL: env.url, Step: step, Auth: payment,
		Gas:    hex.EncodeToString(crypto.FromECDSA(env.gasKey)),
		Refund: hex.EncodeToString(crypto.FromECDSA(env.refundKey)), Treasury: env.cfg.PayTo.Hex(),
	}
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildProcess$")
	child.Env = append(os.Environ(), "TEST_CHILD_TASK="+string(encoded))
	out, _ := child.CombinedOutput() // how it ended is asked below
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %s", out)
	}
	db, err := openDatabase(t.Context(), e.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the file goes away with the test
	env.cfg.Store = sqldb.Settlements{DB: db, ChainID: env.cfg.Network.ChainID}
	env.settled(env.settleLater(env.settler(), payment))
	if env.moved() != 1 {
		t.Errorf("got %d transfers, want 1", env.moved())
	}
	env.noGap(env.gasKey)
}
