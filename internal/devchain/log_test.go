package devchain

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// write creates a log with the given records and returns its bytes.
func write(t testing.TB, records ...string) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "blocks.log")
	l, err := openLog(path, 0, func([]byte, span) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := l.append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if content, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func readAll(t testing.TB, path string) ([]string, error) {
	t.Helper()
	var got []string
	l, err := openLog(path, 0, func(b []byte, _ span) error {
		got = append(got, string(b))
		return nil
	})
	if err == nil {
		err = l.close()
	}
	return got, err
}

func TestTornTailIsDropped(t *testing.T) {
	_, content := write(t, "first", "second", "third")
	second := len(content) - recordHead - len("third")
	for size := second; size < len(content); size++ {
		for _, tail := range [][]byte{content[second:size], make([]byte, size-second)} {
			path := filepath.Join(t.TempDir(), "torn.log")
			if err := os.WriteFile(path, slices.Concat(content[:second], tail), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time nothing is torn
				got, err := readAll(t, path)
				if err != nil || !slices.Equal(got, []string{"first", "second"}) {
					t.Fatalf("torn at %d: got %q, %v, want two records", size, got, err)
				}
			}
			info, err := os.Stat(path)
			if err != nil || info.Size() != int64(second) {
				t.Errorf("torn at %d: got %d bytes, %v, want %d", size, info.Size(), err, second)
			}
		}
	}
}

func TestIncompleteLogIsRecreated(t *testing.T) {
	for size := range len(logMagic) {
		path := filepath.Join(t.TempDir(), "half.log")
		if err := os.WriteFile(path, []byte(logMagic[:size]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readAll(t, path); err != nil || len(got) != 0 {
			t.Errorf("%d bytes: got %q, %v, want an empty log", size, got, err)
		}
	}
}

func TestDamagedLogIsRefused(t *testing.T) {
	path, content := write(t, "first", "second", "third")
	content[len(logMagic)+recordHead] ^= 1 // in "first"
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(t, path); err == nil {
		t.Errorf("got %q, want an error: later records are not torn", got)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
		t.Errorf("a damaged log was changed: %v", err)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, path); err == nil {
		t.Error("a file of another kind was read as a log")
	}
}

// A disk error makes the transaction fail without any effect; once the disk works
// again, so does the chain.
func TestFailedWriteMinesNothing(t *testing.T) {
	c, err := Open(Config{Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // the test is over
	good := c.history.log.file
	readOnly, err := os.Open(good.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close() // opened for reading only
	to := common.Address{7}

	c.blockMu.Lock()
	c.history.log.file = readOnly
	c.blockMu.Unlock()
	if _, err := c.sendFaucetTx(t.Context(), &to, big.NewInt(5), nil); err == nil {
		t.Error("a block that could not be written was reported as mined")
	}
	if c.ethOf(to).Sign() != 0 || c.head.number() != 0 || c.nextNonce(c.faucetAccount()) != 0 {
		t.Error("a block that could not be written changed the state")
	}

	c.blockMu.Lock()
	c.history.log.file = good
	c.blockMu.Unlock()
	if _, err := c.sendFaucetTx(t.Context(), &to, big.NewInt(5), nil); err != nil {
		t.Fatal(err)
	}
	if c.ethOf(to).Int64() != 5 || c.head.number() != 1 {
		t.Error("the chain did not recover")
	}
}

func FuzzReadLog(f *testing.F) {
	_, content := write(f, "first", "second", "third")
	records := content[len(logMagic):]
	f.Add(records)
	f.Add(records[:len(records)-3])
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, content []byte) {
		var ends []int64
		end, err := readRecords(bytes.NewReader(content), 0, int64(len(content)), func(_ []byte, at span) error {
			ends = append(ends, at.end)
			return nil
		})
		if err != nil {
			return
		}
		if end > int64(len(content)) || len(ends) > 0 && ends[len(ends)-1] != end {
			t.Fatalf("got end %d of %d bytes and records to %v", end, len(content), ends)
		}
		again, err := readRecords(bytes.NewReader(content[:end]), 0, end, func([]byte, span) error { return nil })
		if err != nil || again != end {
			t.Fatalf("cut at its end: got %d, %v, want %d", again, err, end)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("seed")))
	if err != nil {
		f.Fatal(err)
	}
	from := crypto.PubkeyToAddress(key.PublicKey)
	fundedWallet := newState()
	fundedWallet.apply(changes{Accounts: []accountChange{{from, &account{Balance: *faucetETH}}}})
	h := headerAfter(nil, time.Unix(1_800_000_000, 0))
	h.MixDigest = common.Hash{} // the same seed each time
	draft := newBlockDraft(fundedWallet, h, environment{hashOf: func(uint64) common.Hash { return common.Hash{} }})
	tx, err := types.SignNewTx(key, signer, &types.LegacyTx{Gas: 100_000, GasPrice: big.NewInt(1e9), Data: []byte{0x60, 1, 0x60, 1, 0x55, 0x60, 0, 0x60, 0, 0xa0}})
	if err != nil {
		f.Fatal(err)
	}
	if err := draft.add(tx); err != nil {
		f.Fatal(err)
	}
	b, made, err := draft.finish()
	if err != nil {
		f.Fatal(err)
	}
	seed, err := encodeRecord(b, made)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-1])
	f.Add([]byte{0xc0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := decodeRecord(payload)
		if err != nil {
			return
		}
		b, err := r.block()
		if err != nil {
			return
		}
		again, err := encodeRecord(b, r.Changes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeRecord(again); err != nil {
			t.Fatalf("what we decoded and encoded cannot be decoded: %v", err)
		}
	})
}

func FuzzRPC(f *testing.F) {
	c, err := Open(Config{Dir: f.TempDir(), Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() }) // the fuzzing is over
	for method := range methods {
		for _, params := range []string{`[]`, `["latest",true]`, `["0x036CbD53842c5426634e7929541eC2318f3dCF7e","0x0","latest"]`, `[{}]`, `[null]`} {
			f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`))
		}
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"eth_feeHistory","params":["0xffffffffffffffff",{"blockNumber":"0x0"},[1]]}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0xffffffffffffffff","toBlock":"earliest","topics":[[],null]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if answer := c.answer(t.Context(), body); len(answer) > 0 && !bytes.Contains(answer, []byte(`"jsonrpc":"2.0"`)) {
			t.Fatalf("got %s", answer)
		}
	})
}
