package sim

import (
	"fmt"
	"maps"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// depth is how many blocks lie on a block that is final. A reorganization takes
// that many away at most, and never a block that was final once.
const depth = 3

// Wallets of ours, and two of strangers.
const (
	refundWallet deed.Wallet = "0x00000000000000000000000000000000000000fa"
	faucet       deed.Wallet = "0x00000000000000000000000000000000000000fb"
	elsewhere    deed.Wallet = "0x00000000000000000000000000000000000000ee"
)

// treasuries are all that were ever configured.
var treasuries = []deed.Wallet{"0x00000000000000000000000000000000000000ff", "0x00000000000000000000000000000000000000fe"}

// plenty is what the refund wallet and the faucet begin with.
const plenty deed.USDC = 1_000_000_000_000

// A kind says what a transaction does.
type kind string

const (
	transfer kind = "transfer" // by authorization (EIP-3009)
	cancel   kind = "cancel"   // of an authorization, by its payer
	move     kind = "move"     // of money to another wallet
	refund   kind = "refund"   // by an authorization of the refund wallet
	foreign  kind = "foreign"  // from a wallet of ours, signed elsewhere: it has the nonce of another
	fat      kind = "fat"      // so large that nobody can read its block
)

// A transaction waits in the mempool, is mined, is dropped, or comes back.
type transaction struct {
	hash   string
	kind   kind
	auth   settle.Authorization // of a transfer, a cancel or a refund
	label  string               // of a refund
	of     string               // of a refund: payer and nonce of what goes back; of a foreign one: the hash that it displaces
	from   deed.Wallet          // of a move, as all below
	to     deed.Wallet
	amount deed.USDC
	fails  bool // it will be mined, and revert
	ours   bool // a wallet of ours sent it
}

// use is what became of a nonce.
type use struct {
	paid   bool // into a treasury, and more than nothing
	to     deed.Wallet
	amount deed.USDC
	hash   string
	block  uint64
	at     time.Time
}

// A block is the whole state of the chain after it.
type block struct {
	at        time.Time
	txs       []*transaction
	fat       bool
	balance   map[deed.Wallet]deed.USDC
	used      map[string]use        // by payer and nonce
	mined     map[string]bool       // by hash: whether it did what it says
	displaced map[string]bool       // by hash: it can never be mined
	refunds   map[string][]refunded // by payer and nonce of what went back
}

type refunded struct {
	to     deed.Wallet
	amount deed.USDC
	label  string
}

// next returns the block that follows b, still empty.
func (b *block) next(at time.Time) *block {
	return &block{
		at: at, balance: maps.Clone(b.balance), used: maps.Clone(b.used), mined: maps.Clone(b.mined),
		displaced: maps.Clone(b.displaced), refunds: maps.Clone(b.refunds),
	}
}

// A chain has one canonical list of blocks. What a Settler must not forget, the
// transactions it signed, is kept here: it survives every crash, and is as old as
// the database when a backup is restored.
type chain struct {
	w       *world
	ahead   time.Duration // of the world's time; it jumps only with mandates
	blocks  []*block
	highest int // the highest block that ever was final
	pool    []*transaction
	signed  map[string][]*transaction // by purpose; nil is one that was given up
	sent    map[string]bool           // by hash: what a wallet of ours sent
	count   int                       // transactions ever
}

func newChain(w *world, buyers []deed.Wallet) *chain {
	genesis := &block{at: w.now, balance: map[deed.Wallet]deed.USDC{refundWallet: plenty, faucet: plenty}, used: map[string]use{},
		mined: map[string]bool{}, displaced: map[string]bool{}, refunds: map[string][]refunded{}}
	for _, b := range buyers {
		genesis.balance[b] = price * deed.USDC(3+w.rng.IntN(8))
	}
	return &chain{w: w, blocks: []*block{genesis}, signed: map[string][]*transaction{}, sent: map[string]bool{}}
}

// now is the time of the next block.
func (c *chain) now() time.Time { return c.w.now.Add(c.ahead) }

func (c *chain) head() *block { return c.blocks[len(c.blocks)-1] }

// finalHeight is the highest block that no reorganization takes away.
func (c *chain) finalHeight() int {
	c.highest = max(c.highest, len(c.blocks)-1-depth)
	return c.highest
}

func (c *chain) final() *block { return c.blocks[c.finalHeight()] }

func keyOf(a settle.Authorization) string { return string(a.Payer) + " " + a.Nonce }

// strange puts a transaction of somebody else into the mempool.
func (c *chain) strange(t transaction) {
	c.count++
	t.hash = fmt.Sprintf("strange #%d", c.count)
	c.add(&t)
	c.w.tell("strangers: %s of %s, %s", t.kind, id(t.auth), t.auth.Amount)
}

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
	b := c.head().next(c.now())
	var left []*transaction
	for _, t := range c.pool {
		switch {
		case c.w.fault(8):
			continue // dropped: whoever wants it sends it again
		case c.w.fault(5):
			left = append(left, t)
			continue
		case b.displaced[t.hash]:
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
	switch t.kind {
	case transfer, refund:
		return c.applyTransfer(b, t)
	case cancel:
		_, used := b.used[keyOf(t.auth)]
		if !used {
			b.used[keyOf(t.auth)] = use{hash: t.hash, block: uint64(len(c.blocks)), at: b.at}
		}
		return !used
	case foreign:
		if _, mined := b.mined[t.of]; mined {
			return false
		}
		b.mined[t.of], b.displaced[t.of] = false, true
		return true
	case fat:
		b.fat = true
		return true
	}
	if b.balance[t.from] < t.amount {
		return false
	}
	b.balance[t.from] -= t.amount
	b.balance[t.to] += t.amount
	return true
}

// applyTransfer moves money by authorization: one nonce moves it once.
func (c *chain) applyTransfer(b *block, t *transaction) bool {
	a, key, second := t.auth, keyOf(t.auth), b.at.Unix()
	if _, used := b.used[key]; used || t.fails || second <= a.ValidAfter || second >= a.ValidBefore || b.balance[a.Payer] < a.Amount {
		return false
	}
	b.used[key] = use{paid: isTreasury(a.PayTo) && a.Amount > 0, to: a.PayTo, amount: a.Amount, hash: t.hash, block: uint64(len(c.blocks)), at: b.at}
	b.balance[a.Payer] -= a.Amount
	b.balance[a.PayTo] += a.Amount
	if t.kind == refund {
		back := b.refunds[t.of]
		b.refunds[t.of] = append(back[:len(back):len(back)], refunded{a.PayTo, a.Amount, t.label})
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
