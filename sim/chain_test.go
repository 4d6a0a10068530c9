package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"deed.example/deed"
)

// depth is how many blocks lie on a block that is final. A reorganization takes
// that many away at most, and never a block that was final once.
const depth = 3

const treasury deed.Wallet = "0x00000000000000000000000000000000000000ff"

// A kind says what a transaction does.
type kind string

const (
	transfer kind = "transfer" // by authorization (EIP-3009)
	cancel   kind = "cancel"   // of an authorization, by its payer
	move     kind = "move"     // of the payer's money to a wallet that pays nothing
	refund   kind = "refund"
)

// A transaction waits in the mempool, is mined, is dropped, or comes back.
type transaction struct {
	hash   string
	kind   kind
	auth   deed.Authorization // of a transfer or a cancel
	id     string             // of a refund
	from   deed.Wallet
	to     deed.Wallet
	amount deed.USDC
	fails  bool // it will be mined, and revert
}

// use is what became of a nonce.
type use struct {
	paid   bool // into the treasury
	amount deed.USDC
	hash   string
	block  uint64
	at     time.Time
}

// A block is the whole state of the chain after it.
type block struct {
	at      time.Time
	txs     []*transaction
	balance map[deed.Wallet]deed.USDC
	used    map[string]use        // by payer and nonce
	mined   map[string]bool       // by hash: whether it did what it says
	refunds map[string][]refunded // by payment
}

type refunded struct {
	to     deed.Wallet
	amount deed.USDC
}

// A chain has one canonical list of blocks. What a Settler must not forget, the
// transactions it signed, is kept here: it survives every crash.
type chain struct {
	w       *world
	blocks  []*block
	highest int // the highest block that ever was final
	pool    []*transaction
	signed  map[string][]*transaction // by purpose
	strange int                       // transactions of others
}

func newChain(w *world, buyers []deed.Wallet) *chain {
	genesis := &block{at: w.now, balance: map[deed.Wallet]deed.USDC{}, used: map[string]use{}, mined: map[string]bool{}, refunds: map[string][]refunded{}}
	for _, b := range buyers {
		genesis.balance[b] = price * deed.USDC(3+w.rng.IntN(8))
	}
	return &chain{w: w, blocks: []*block{genesis}, signed: map[string][]*transaction{}}
}

func (c *chain) head() *block { return c.blocks[len(c.blocks)-1] }

// finalHeight is the highest block that no reorganization takes away.
func (c *chain) finalHeight() int {
	c.highest = max(c.highest, len(c.blocks)-1-depth)
	return c.highest
}

func (c *chain) final() *block { return c.blocks[c.finalHeight()] }

func keyOf(a deed.Authorization) string { return string(a.Payer) + " " + a.Nonce }

// add puts a transaction into the mempool, unless it is there or mined.
func (c *chain) add(t *transaction) {
	if _, mined := c.head().mined[t.hash]; mined {
		return
	}
	for _, waiting := range c.pool {
		if waiting.hash == t.hash {
			return
		}
	}
	c.pool = append(c.pool, t)
}

// mine makes a block of some of the waiting transactions, and drops some.
func (c *chain) mine() {
	last := c.head()
	b := &block{at: c.w.now, balance: maps.Clone(last.balance), used: maps.Clone(last.used), mined: maps.Clone(last.mined), refunds: maps.Clone(last.refunds)}
	var left []*transaction
	for _, t := range c.pool {
		switch {
		case c.w.fault(8):
			continue // dropped: whoever wants it sends it again
		case c.w.fault(5):
			left = append(left, t)
			continue
		}
		b.mined[t.hash] = c.apply(b, t)
		b.txs = append(b.txs, t)
		c.w.dirty = c.w.dirty || t.kind == refund
	}
	c.pool, c.blocks = left, append(c.blocks, b)
	c.finalHeight()
}

func (c *chain) apply(b *block, t *transaction) bool {
	key, second := keyOf(t.auth), b.at.Unix()
	_, used := b.used[key]
	u := use{hash: t.hash, block: uint64(len(c.blocks)), at: b.at}
	switch t.kind {
	case transfer:
		if used || second <= t.auth.ValidAfter || second >= t.auth.ValidBefore || b.balance[t.auth.Payer] < t.auth.Amount {
			return false
		}
		u.paid, u.amount = t.auth.PayTo == treasury, t.auth.Amount
		b.used[key] = u
		b.balance[t.auth.Payer] -= t.auth.Amount
		b.balance[t.auth.PayTo] += t.auth.Amount
		return true
	case cancel:
		if !used {
			b.used[key] = u
		}
		return !used
	}
	if t.fails || b.balance[t.from] < t.amount {
		return false
	}
	b.balance[t.from] -= t.amount
	b.balance[t.to] += t.amount
	if t.kind == refund {
		b.refunds[t.id] = append(b.refunds[t.id][:len(b.refunds[t.id]):len(b.refunds[t.id])], refunded{t.to, t.amount})
	}
	return true
}

// reorganize takes some of the last blocks away. Of their transactions some
// wait again, and some are forgotten by every node.
func (c *chain) reorganize() {
	n := min(1+c.w.rng.IntN(depth), len(c.blocks)-1-c.finalHeight())
	for range n {
		last := c.head()
		c.blocks = c.blocks[:len(c.blocks)-1]
		for _, t := range last.txs {
			if c.w.rng.IntN(2) == 0 {
				c.pool = append(c.pool, t)
			}
		}
	}
	c.w.tell("reorganization of %d blocks, height %d", n, len(c.blocks)-1)
}

// A settler implements deed.Settler on the chain, as its contract says.
type settler struct{ c *chain }

var errUndecided = errors.New("the chain has not decided")

// Check implements deed.Settler.
func (s settler) Check(_ context.Context, a deed.Authorization) error {
	b := s.c.head()
	_, used := b.used[keyOf(a)]
	switch now := b.at.Unix(); {
	case a.PayTo != treasury || len(a.Signature) == 0 || used || now <= a.ValidAfter || now >= a.ValidBefore:
		return deed.Errorf(deed.CodePaymentInvalid, "it can not be settled")
	case b.balance[a.Payer] < a.Amount:
		return deed.Errorf(deed.CodePaymentInsufficient, "the payer has too little")
	}
	return nil
}

// Settle implements deed.Settler. It may wait for some blocks, as ours does.
func (s settler) Settle(_ context.Context, a deed.Authorization) (string, error) {
	for range 1 + s.c.w.rng.IntN(depth+3) {
		u, used := s.c.final().used[keyOf(a)]
		switch {
		case used && u.paid && u.amount == a.Amount:
			return u.hash, nil
		case used:
			return "", deed.Errorf(deed.CodePaymentInvalid, "its nonce is gone")
		case s.c.final().at.Unix() >= a.ValidBefore:
			return "", deed.Errorf(deed.CodePaymentInvalid, "it has ended")
		}
		s.c.send("settle "+keyOf(a), transaction{kind: transfer, auth: a})
		s.c.w.tick(2 * time.Second)
		s.c.mine()
	}
	return "", errUndecided
}

// send broadcasts the transaction of a purpose, the one signed before if there
// is one. After one that reverted for good it signs the next. It returns the
// hash of one that is final.
func (c *chain) send(purpose string, t transaction) string {
	for _, old := range c.signed[purpose] {
		done, mined := c.final().mined[old.hash]
		if done {
			return old.hash
		}
		if !mined {
			c.add(old)
			return ""
		}
	}
	t.hash = fmt.Sprintf("%s #%d", purpose, len(c.signed[purpose])+1)
	t.fails = t.kind == refund && c.w.fault(10)
	c.signed[purpose] = append(c.signed[purpose], &t)
	c.add(&t)
	return ""
}

// Refund implements deed.Settler.
func (s settler) Refund(_ context.Context, id string, to deed.Wallet, amount deed.USDC) (string, error) {
	for range 1 + s.c.w.rng.IntN(depth+3) {
		if hash := s.c.send("refund "+id, transaction{kind: refund, id: id, from: treasury, to: to, amount: amount}); hash != "" {
			return hash, nil
		}
		s.c.w.tick(2 * time.Second)
		s.c.mine()
	}
	return "", errUndecided
}

// Incoming implements deed.Settler. It may stop before the last final block.
func (s settler) Incoming(_ context.Context, from uint64) (found []deed.Transfer, next uint64, err error) {
	to := uint64(s.c.finalHeight())
	if to > from && s.c.w.fault(5) {
		to = from
	}
	for n := from; n <= to; n++ {
		for _, t := range s.c.blocks[n].txs {
			u := s.c.blocks[n].used[keyOf(t.auth)]
			if t.kind == transfer && u.paid && u.hash == t.hash {
				found = append(found, deed.Transfer{Payer: t.auth.Payer, Nonce: t.auth.Nonce, Amount: u.amount, TxHash: t.hash, Block: n, At: u.at})
			}
		}
	}
	return found, max(from, to+1), nil
}
