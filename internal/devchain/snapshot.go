package devchain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rlp"
)

// A snapshot avoids reading most of a long log: it holds the state after a block,
// the positions of all blocks up to it, and the offset of the next record. It has
// the format of a log with one record. The block log stays authoritative: without a
// valid snapshot all of it is read.
//
// The block is below those that can be rewound, so that a snapshot never contains a
// block that was removed, and the rest of the log has their undo changes.

// snapshotEvery is the number of blocks between snapshots.
const snapshotEvery = 16_384

// writeSnapshot writes a snapshot. The caller holds blockMu.
func (c *Chain) writeSnapshot() error {
	h := c.history
	number := h.height()
	for number > 0 && h.blocks[number].recent != nil {
		number--
	}
	undos, err := h.undos(number)
	if err != nil {
		return err
	}
	payload, err := encodeSnapshot(h, number, c.state.before(undos))
	if err != nil {
		return err
	}
	fresh := filepath.Join(c.dir, "snapshot.new")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := openLog(fresh, 0, func([]byte, span) error { return nil })
	if err != nil {
		return err
	}
	_, err = l.append(payload)
	if err = errors.Join(err, l.close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(c.dir, "snapshot")); err != nil {
		return err
	}
	c.snapshotAt = h.height() + snapshotEvery
	return syncDir(c.dir)
}

// snapshotIfGrown writes a snapshot after many blocks. A failure is retried later:
// it only slows down the next start.
func (c *Chain) snapshotIfGrown() {
	c.blockMu.Lock()
	defer c.blockMu.Unlock()
	if c.history.height() >= c.snapshotAt {
		_ = c.writeSnapshot()
	}
}

// loadSnapshot fills state and history from a snapshot, if there is a valid one,
// and returns the offset of the next record in the log.
func (c *Chain) loadSnapshot() (from int64) {
	path := filepath.Join(c.dir, "snapshot")
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	l, err := openLog(path, 0, func(payload []byte, _ span) error {
		s, h, end, err := decodeSnapshot(payload)
		if err == nil {
			c.state, c.history, from = s, h, end
			c.snapshotAt = h.height() + snapshotEvery
		}
		return err
	})
	if err != nil {
		return 0
	}
	l.close() // opened for reading only
	return from
}

// encodeSnapshot writes words and positions in fields of fixed width, since there
// may be millions, and the few accounts in RLP.
func encodeSnapshot(h *history, number uint64, p past) ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, number+1)
	txs := make([][]common.Hash, number+1)
	for hash, at := range h.mined {
		if at.number <= number {
			txs[at.number] = append(txs[at.number], hash)
		}
	}
	for n, e := range h.blocks[:number+1] {
		b = append(b, e.hash[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(e.at.start))
		b = binary.BigEndian.AppendUint64(b, uint64(e.at.end))
		b = binary.BigEndian.AppendUint64(b, uint64(len(txs[n])))
		for _, hash := range txs[n] {
			b = append(b, hash[:]...)
			b = binary.BigEndian.AppendUint64(b, uint64(h.mined[hash].index))
		}
	}
	all := p.all()
	b = binary.BigEndian.AppendUint64(b, uint64(len(all.Words)))
	for _, w := range all.Words {
		b = append(b, w.Slot.Address[:]...)
		b = append(b, w.Slot.Key[:]...)
		b = append(b, w.Word[:]...)
	}
	accounts, err := rlp.EncodeToBytes(all.Accounts)
	return append(b, accounts...), err
}

func decodeSnapshot(payload []byte) (s *state, h *history, end int64, err error) {
	in := &fields{rest: payload}
	s, h = newState(), newHistory()
	for n := in.count(56); n > 0; n-- {
		e := entry{hash: common.Hash(in.take(32)), at: span{int64(in.uint()), int64(in.uint())}}
		h.push(e.hash, nil, e.at, nil)
		for t := in.count(40); t > 0; t-- {
			h.mined[common.Hash(in.take(32))] = place{h.height(), int(in.uint())}
		}
		end = e.at.end
	}
	for n := in.count(84); n > 0; n-- {
		at := slot{common.Address(in.take(20)), common.Hash(in.take(32))}
		s.words[at] = common.Hash(in.take(32))
	}
	var accounts []accountChange
	if err := rlp.DecodeBytes(in.rest, &accounts); err != nil {
		return nil, nil, 0, fmt.Errorf("decode the accounts of a snapshot: %w", err)
	}
	if in.short || end == 0 {
		return nil, nil, 0, errors.New("the snapshot is too short")
	}
	s.apply(changes{Accounts: accounts})
	return s, h, end, nil
}

// fields reads fields of fixed width. After the end it reads zeros.
type fields struct {
	rest  []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.rest) < n {
		f.rest, f.short = nil, true
		return make([]byte, n)
	}
	field := f.rest[:n]
	f.rest = f.rest[n:]
	return field
}

func (f *fields) uint() uint64 { return binary.BigEndian.Uint64(f.take(8)) }

// count reads the number of items of at least this width that follow.
func (f *fields) count(width int) uint64 {
	n := f.uint()
	if n > uint64(len(f.rest)/width) {
		f.short = true
		return 0
	}
	return n
}
