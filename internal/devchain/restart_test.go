package devchain_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
)

// everything is all data about the chain's blocks.
func (b *env) everything(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for n := range b.height(t) + 1 {
		var block, receipts json.RawMessage
		b.mustRPC(t, &block, "eth_getBlockByNumber", hexutil.Uint64(n), true)
		b.mustRPC(t, &receipts, "eth_getBlockReceipts", hexutil.Uint64(n))
		fmt.Fprintf(&all, "%s\n%s\n", block, receipts)
	}
	return all.String()
}

func TestRestartKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	b := openAt(t, dir, time.Now)
	owner := b.fundedWallet(t, 500)
	code := b.codeWallet(t, owner, 70)
	made := b.send(t, owner, nil, contracts.Compiled("Multicall").Create)
	b.send(t, owner, &usdc, pack(t, b.token, "transfer", code, big.NewInt(30)))
	b.send(t, owner, &usdc, pack(t, b.token, "transfer", code, big.NewInt(9999))) // fails
	want := b.everything(t)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		b = openAt(t, dir, time.Now)
		if got := b.everything(t); got != want {
			t.Errorf("got after the restart:\n%s\nwant:\n%s", got, want)
		}
	}
	if got := b.usdcOf(t, code); got != 100 {
		t.Errorf("got %d, want 100", got)
	}
	var onChain hexutil.Bytes
	b.mustRPC(t, &onChain, "eth_getCode", made.ContractAddress, "latest")
	if string(onChain) != string(contracts.Compiled("Multicall").Code) {
		t.Errorf("the contract's code has changed")
	}
	if got := b.nonce(t, owner.addr); got != 3 {
		t.Errorf("got nonce %d, want 3", got)
	}
	b.send(t, owner, &usdc, pack(t, b.token, "transfer", code, big.NewInt(1))) // new transactions work
	if _, err := b.Rewind(3); err != nil {                                     // and a rewind of blocks from before the restart
		t.Fatal(err)
	}
	if got := b.usdcOf(t, code); got != 70 {
		t.Errorf("after the rewind: got %d, want 70", got)
	}
	want = b.everything(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := openAt(t, dir, time.Now).everything(t); got != want {
		t.Errorf("the rewind was lost:\n%s\nwant:\n%s", got, want)
	}
}

// Old blocks are only in the log, and their state is not available.
func TestOldBlocksAreReadFromTheLog(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 5)
	first := b.send(t, w, &usdc, pack(t, b.token, "transfer", batch, big.NewInt(2)))
	for range 257 {
		if err := b.Mine(); err != nil {
			t.Fatal(err)
		}
	}
	again := b.receipt(t, first.TransactionHash)
	if again == nil || again.BlockHash != first.BlockHash || again.GasUsed != first.GasUsed || len(again.Logs) != 1 {
		t.Errorf("got %+v, want %+v", again, first)
	}
	var out json.RawMessage
	at := func(number hexutil.Uint64) error {
		return b.rpc(&out, "eth_getBalance", w.addr, number)
	}
	if err := at(first.BlockNumber); err == nil {
		t.Error("the state of an old block was returned")
	}
	if err := at(first.BlockNumber + 1); err != nil {
		t.Errorf("the state 256 blocks back: %v", err)
	}
	if _, err := b.Rewind(257); err == nil {
		t.Error("more blocks were rewound than can be undone")
	}
	if _, err := b.Rewind(200); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rewind(57); err == nil {
		t.Error("a second rewind undid more blocks than can be undone")
	}
	if _, err := b.Rewind(56); err != nil || b.height(t) != uint64(first.BlockNumber)+1 || b.usdcOf(t, batch) != 2 {
		t.Errorf("after the rewind: got %v, height %d, want %d", err, b.height(t), first.BlockNumber+1)
	}
}

func TestFilesArePrivateAndLocked(t *testing.T) {
	dir := t.TempDir()
	b := openAt(t, dir, time.Now)
	for _, name := range []string{"faucet.key", "blocks.log"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != fs.FileMode(0o600) {
			t.Errorf("%s: got %v, %v, want mode 0600", name, info.Mode(), err)
		}
	}
	if c, err := devchain.Open(devchain.Config{Dir: dir, Now: time.Now}); err == nil {
		t.Error("the directory was opened twice")
		c.Close()
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "faucet.key")); err != nil {
		t.Fatal(err)
	}
	if c, err := devchain.Open(devchain.Config{Dir: dir, Now: time.Now}); err == nil {
		t.Error("a chain was opened without the key that owns its token")
		c.Close()
	}
}

// childDir is the environment variable with the directory in which TestChild, as a
// separate process, produces blocks until it is killed.
const childDir = "DEVCHAIN_CHILD_DIR"

func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("it runs as the child of TestKill")
	}
	b := openAt(t, dir, time.Now)
	payer := b.fundedWallet(t, 1_000_000)
	for n := b.nonce(t, payer.addr); ; n++ { // not zero: an earlier child used the same wallet
		tx := payer.sign(t, n, &usdc, pack(t, b.token, "transfer", batch, big.NewInt(1)))
		if err := b.post(t, tx); err != nil {
			t.Fatal(err)
		}
		if b.receipt(t, tx.Hash()) != nil {
			fmt.Println("mined", tx.Hash())
		}
	}
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	var reported []common.Hash
	for round := range 3 {
		reported = append(reported, killed(t, dir, 20+50*round)...)
		b := openAt(t, dir, time.Now)
		for _, hash := range reported {
			if r := b.receipt(t, hash); r == nil || r.Status != 1 {
				t.Fatalf("round %d: %s was reported as mined and is missing", round, hash)
			}
		}
		// More may be mined than the child could report, by one in each round.
		if got := b.usdcOf(t, batch); got < int64(len(reported)) || got > int64(len(reported)+round+1) {
			t.Errorf("round %d: got %d transfers, want about %d", round, got, len(reported))
		}
		b.checkReceipts(t)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killed runs a child, kills it after some reports, and returns all it reported.
func killed(t *testing.T, dir string, after int) []common.Hash {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var reported []common.Hash
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if hash, ok := strings.CutPrefix(lines.Text(), "mined "); ok {
			reported = append(reported, common.HexToHash(hash))
		} else {
			t.Errorf("the child printed %q", lines.Text())
		}
		if len(reported) == after {
			if err := child.Process.Kill(); err != nil { // SIGKILL
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("the child exited before it was killed")
	}
	if len(reported) < after {
		t.Fatalf("got %d reports, want %d", len(reported), after)
	}
	return reported
}
