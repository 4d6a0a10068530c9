package devchain

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// grown returns a closed chain of some hundred blocks, some with transactions.
func grown(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	c := reopen(t, dir)
	for i := range 3 {
		if _, _, err := c.Faucet(t.Context(), common.Address{byte(i + 1)}.Hex(), 5); err != nil {
			t.Fatal(err)
		}
		for range keptBlocks/2 + 10 {
			if err := c.Mine(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func reopen(t *testing.T, dir string) *Chain {
	t.Helper()
	c, err := Open(Config{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // some tests have closed it already
	return c
}

// snap writes a snapshot of the chain and closes it.
func snap(t *testing.T, c *Chain) {
	t.Helper()
	c.blockMu.Lock()
	err := c.writeSnapshot()
	c.blockMu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantSame checks that two chains have the same state and history.
func wantSame(t *testing.T, got, want *Chain) {
	t.Helper()
	if !reflect.DeepEqual(got.state, want.state) {
		t.Error("the states differ")
	}
	if got.head.hash != want.head.hash || !reflect.DeepEqual(got.history.hashes, want.history.hashes) || !reflect.DeepEqual(got.history.mined, want.history.mined) {
		t.Error("the histories differ")
	}
	for n := range want.history.blocks {
		a, errA := got.history.block(uint64(n))
		b, errB := want.history.block(uint64(n))
		if errA != nil || errB != nil || a.hash != b.hash || !reflect.DeepEqual(a.receipts, b.receipts) {
			t.Fatalf("block %d differs: %v, %v", n, errA, errB)
		}
		if (got.history.blocks[n].recent == nil) != (want.history.blocks[n].recent == nil) {
			t.Fatalf("block %d can be undone in one and not in the other", n)
		}
	}
}

func TestSnapshotEqualsLog(t *testing.T) {
	dir := grown(t)
	snap(t, reopen(t, dir))
	short := reopen(t, dir)
	if short.snapshotAt == snapshotEvery {
		t.Fatal("the snapshot was not used")
	}
	if _, err := short.Rewind(keptBlocks); err != nil { // all that can be undone
		t.Fatal(err)
	}
	if err := short.Mine(); err != nil {
		t.Fatal(err)
	}
	if err := short.Close(); err != nil {
		t.Fatal(err)
	}
	short = reopen(t, dir)
	if err := short.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "snapshot")); err != nil {
		t.Fatal(err)
	}
	whole := reopen(t, dir)
	for n := range whole.history.blocks { // the whole log has undo changes from before the snapshot
		if short.history.blocks[n].recent == nil {
			whole.history.blocks[n].recent = nil
		}
	}
	short.history.log = whole.history.log // its own is closed
	wantSame(t, short, whole)
}

func TestSnapshotIsWrittenAutomatically(t *testing.T) {
	dir := t.TempDir()
	c := reopen(t, dir)
	c.blockMu.Lock()
	c.snapshotAt = 2
	c.blockMu.Unlock()
	for range 4 { // the producer writes the snapshot before its next round
		if _, _, err := c.Faucet(t.Context(), common.Address{1}.Hex(), 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "snapshot")); err != nil {
		t.Error(err)
	}
	if got := reopen(t, dir).head.hash; got != c.head.hash {
		t.Errorf("got head %s, want %s", got, c.head.hash)
	}
}

func TestBadSnapshotIsNotUsed(t *testing.T) {
	dir := grown(t)
	snap(t, reopen(t, dir))
	path := filepath.Join(dir, "snapshot")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := reopen(t, dir)
	head := want.head.hash
	if err := want.Close(); err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, good...)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{"torn": good[:len(good)-1], "flipped": flipped, "empty": nil, "of another kind": []byte("something else")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c := reopen(t, dir)
		if c.snapshotAt != snapshotEvery || c.head.hash != head {
			t.Errorf("%s: got head %s, next snapshot at %d, want %s from the log alone", name, c.head.hash, c.snapshotAt, head)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "blocks.log"), 100); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(Config{Dir: dir, Now: time.Now}); err == nil {
		t.Error("a log shorter than its snapshot was opened")
		c.Close()
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1})
	f.Add(append(make([]byte, 7), append([]byte{1}, make([]byte, 72)...)...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if s, h, end, err := decodeSnapshot(payload); err == nil && (s == nil || len(h.blocks) == 0 || end == 0) {
			t.Fatal("an empty snapshot was accepted")
		}
	})
}
