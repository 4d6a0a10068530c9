//go:build long

package chain_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A nodeTask is what another node is told to settle, and where a signal reaches it.
type nodeTask struct {
	Database, URL, Gas, Refund, Treasury string
	Step                                 string // the one that it is interrupted at, or "signing"
	Times                                int32  // that it reaches the step
	Signal                               syscall.Signal
	Ahead                                uint64 // by how much its endpoint counts too many transactions of an account
	Payments                             []settle.Authorization
}

// TestOtherNode is the process of another node. It does nothing when run by itself.
func TestOtherNode(t *testing.T) {
	var task nodeTask
	if json.Unmarshal([]byte(os.Getenv("TEST_NODE_TASK")), &task) != nil {
		t.Skip("run by TestTwoNodesSendAgain")
	}
	db, err := openDatabase(t.Context(), task.Database)
	if err != nil {
		t.Fatal(err)
	}
	cfg := envConfig(t, task.URL, db)
	cfg.Now = time.Now
	copy(cfg.PayTo[:], bytesOf(task.Treasury))
	var reached atomic.Int32
	cfg.Step = func(name string) {
		if name == task.Step && reached.Add(1) == task.Times {
			fmt.Println("interrupted")
			syscall.Kill(os.Getpid(), task.Signal)
			time.Sleep(time.Millisecond) // the signal comes at once, but not before the call returns
		}
	}
	gasKey, err := crypto.HexToECDSA(task.Gas)
	if err != nil {
		t.Fatal(err)
	}
	refundKey, err := crypto.HexToECDSA(task.Refund)
	if err != nil {
		t.Fatal(err)
	}
	cfg.GasSigner, cfg.RefundSigner = slowSigner{file.New(gasKey), cfg.Step}, file.New(refundKey)
	s, err := chain.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var all []<-chan answer
	for _, a := range task.Payments {
		all = append(all, later(func() (string, error) { return s.Settle(t.Context(), a) }))
	}
	for _, c := range all {
		got := <-c
		fmt.Println(outcome(got))
	}
}

// outcome is what a node says of a payment, in a word.
func outcome(got answer) string {
	switch {
	case got.err == nil:
		return "settled:" + got.txHash
	case errors.Is(got.err, settle.ErrReverted):
		return "reverted"
	}
	return fmt.Sprintf("error:%q", got.err)
}

// A slowSigner lets a test interrupt the process while it signs.
type slowSigner struct {
	signer.Signer
	step func(name string)
}

func (s slowSigner) SignTransaction(ctx context.Context, tx signer.Transaction) ([]byte, error) {
	s.step("signing")
	return s.Signer.SignTransaction(ctx, tx)
}

// Two nodes on one database learn that a transaction had no gas for the payments that share
// it, and send them again, alone: while both do, and while one of them is killed or stands
// still between two steps, each payment is settled once or not at all, and both say the same.
func TestTwoNodesSendAgain(t *testing.T) {
	cases := map[string]nodeTask{"at the same time": {}, "with an endpoint that counts too many": {Ahead: 5}}
	for step, times := range map[string]int32{"before store": 2, "signing": 2, "after store": 2, "after send": 1} {
		for name, sig := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stands still": syscall.SIGSTOP} {
			cases[name+" "+step] = nodeTask{Step: step, Times: times, Signal: sig}
		}
	}
	for name, task := range cases {
		t.Run(name, func(t *testing.T) { testTwoNodes(t, task) })
	}
}

func testTwoNodes(t *testing.T, task nodeTask) {
	task.Database = sqldbtest.MigratedPostgresURL(t)
	db, err := openDatabase(t.Context(), task.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	env := newEnv(t, db)
	const each = 8
	task.Payments = env.starve(each)
	task.URL, task.Treasury = env.countsTooMany(task.Ahead), env.cfg.PayTo.Hex()
	task.Gas, task.Refund = hex.EncodeToString(crypto.FromECDSA(env.gasKey)), hex.EncodeToString(crypto.FromECDSA(env.refundKey))
	node := startNode(t, task)
	if task.Step != "" {
		node.interrupted(t)
	}
	s := env.settler()
	var all []<-chan answer
	for _, a := range task.Payments {
		all = append(all, env.settleLater(s, a))
	}
	var ours []string
	for i, c := range all {
		got := outcome(<-c)
		if settled := strings.HasPrefix(got, "settled:"); settled != (i < each) || !settled && got != "reverted" {
			t.Errorf("payment %d: got %s", i, got)
		}
		ours = append(ours, got)
	}
	if task.Signal != syscall.SIGKILL {
		if theirs := node.finish(t); strings.Join(theirs, " ") != strings.Join(ours, " ") {
			t.Errorf("the other node says\n%v, and this one\n%v", theirs, ours)
		}
	}
	if env.moved() != 1+each {
		t.Errorf("got %d transfers, want %d", env.moved(), 1+each)
	}
	env.wait(func() bool {
		return s.Tick(t.Context()) == nil && len(env.signedBy(env.gasKey)) == int(env.nonceOf(env.gasKey))
	})
	env.noGap(env.gasKey)
}

// starve returns payments, of which the second half uses up the gas of the transaction that
// all share. The node that has sent it knows no outcome, and is gone.
func (env *testEnv) starve(each int) (payments []settle.Authorization) {
	env.t.Helper()
	burner := common.HexToAddress(string((&testChain{Chain: env.Chain}).deploy(env.t, "5b600056")))
	var borrow []types.SetCodeAuthorization
	for i, key := range env.payers(2 * each) {
		payments = append(payments, env.payFrom(key, "1"))
		if i < each {
			continue
		}
		auth, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(devchain.ChainID), Address: burner})
		if err != nil {
			env.t.Fatal(err)
		}
		borrow = append(borrow, auth)
	}
	s, first := env.settler(), env.payFrom(env.payers(1)[0], "1")
	env.Pause()
	env.borrowCode(borrow...)
	env.inPool(1)
	ctx, leave := context.WithCancel(env.t.Context())
	asked := env.proxy.hold()
	all := []<-chan answer{later(func() (string, error) { return s.Settle(ctx, first) })}
	<-asked
	for _, a := range payments {
		all = append(all, later(func() (string, error) { return s.Settle(ctx, a) }))
	}
	env.wait(func() bool { return s.Waiting() == len(all) })
	env.proxy.repair()
	env.inPool(3)
	leave()
	for _, c := range all {
		<-c
	}
	env.Resume()
	env.wait(func() bool { return env.nonceOf(env.gasKey) == 2 })
	return payments
}

// An otherNode is the process of another node.
type otherNode struct {
	cmd *exec.Cmd
	out *bufio.Scanner // the lines that it prints
}

func startNode(t *testing.T, task nodeTask) *otherNode {
	t.Helper()
	encoded, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherNode$")
	cmd.Env = append(os.Environ(), "TEST_NODE_TASK="+string(encoded))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() }) // it has ended, if the test has passed
	return &otherNode{cmd, bufio.NewScanner(out)}
}

// interrupted waits until the node is interrupted.
func (n *otherNode) interrupted(t *testing.T) {
	t.Helper()
	for n.out.Scan() {
		if n.out.Text() == "interrupted" {
			return
		}
		t.Log(n.out.Text())
	}
	t.Fatal("it was not interrupted")
}

// finish lets the node go on and returns what it says of its payments.
func (n *otherNode) finish(t *testing.T) (outcomes []string) {
	t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for n.out.Scan() {
		if line := n.out.Text(); line != "PASS" {
			outcomes = append(outcomes, line)
		}
	}
	return outcomes
}

// countsTooMany returns an endpoint that counts too many transactions of every account.
func (env *testEnv) countsTooMany(ahead uint64) (url string) {
	liar := &proxy{next: env.Handler()}
	liar.refusing(func(method string, params []json.RawMessage) *refusal {
		var address common.Address
		if method != "eth_getTransactionCount" || ahead == 0 || json.Unmarshal(params[0], &address) != nil {
			return nil
		}
		var n hexutil.Uint64
		env.rpc(&n, method, address, "latest")
		return &refusal{object: fmt.Sprintf("%q", hexutil.EncodeUint64(uint64(n)+ahead))}
	})
	server := httptest.NewServer(liar)
	env.t.Cleanup(server.Close)
	return server.URL
}
