// Package devchain is a small chain of our own for the sandbox and the tests: a
// real EVM in this process, play USDC at the address clients know, a faucet,
// and the JSON-RPC that wallets speak.
//
// A transaction waits in the pool; as soon as one is there, all that wait are
// drafted into a block, the block is written to the log and synced, and only
// then it is applied and seen. Opening the chain reads the log, most of it from
// a snapshot, and executes nothing: what was once mined stays mined, through
// kill -9 and upgrades.
//
// The EVM and its gas are go-ethereum's core; the state under it is ours and
// flat. Its tries and database would bring proofs nobody asks for, ten times
// the start-up and a clock that runs ahead of the wall at many blocks a second.
package devchain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deed.example/deed/internal/network"
)

// ChainID is the ID of the chain; network.EmbeddedChainID says why it is this one.
const ChainID = network.EmbeddedChainID

// WalletFactory is the address of a contract that creates wallets, for tests.
const WalletFactory = "0xDeedfAC70000000000000000000000000000FAC7"

// The addresses of the token and of Multicall3 are those of the row of the embedded
// chain in package network.
var (
	USDC      = network.Embedded().Token.Address.Checksum()
	Multicall = network.Embedded().Multicall.Checksum()
)

// A Config says where a chain lives and what time it is.
type Config struct {
	Dir string           // for its files; made if missing, used by one process at a time
	Now func() time.Time // the wall clock

	// Beat makes a block, empty if need be, whenever this much time has passed
	// since the last. It keeps the chain's clock going for those who wait for a
	// payment to expire. Zero makes blocks for transactions only.
	Beat time.Duration
}

// A Chain is an open chain. It is safe for concurrent use.
type Chain struct {
	dir  string
	now  func() time.Time
	key  *ecdsa.PrivateKey // of the faucet, which owns the token
	lock *os.File

	paying sync.Mutex // orders the faucet's nonces; taken before all others

	making     sync.Mutex // held while a block is made or taken back; guards snapshotAt
	snapshotAt uint64     // the height at which the next snapshot is due

	mu      sync.RWMutex // guards the fields below; they change only while making is held, too
	state   *state
	head    *block
	history *history
	news    chan struct{} // closed when the head changes

	waiting sync.Mutex // guards the fields below; taken after mu
	pool    *pool
	paused  bool
	pass    *pass // the next one

	wake chan struct{} // holds a token when the pool wants a pass
	quit context.CancelFunc
	done chan struct{} // closed when the maker has ended
}

// Open opens the chain in cfg.Dir, or makes a new one.
func Open(cfg Config) (*Chain, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the chain's folder: %w", err)
	}
	lock, err := lockFile(filepath.Join(cfg.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the chain's folder: %w", err)
	}
	ctx, quit := context.WithCancel(context.Background())
	c := &Chain{
		dir: cfg.Dir, now: cfg.Now, lock: lock,
		snapshotAt: snapshotEvery, state: newState(), history: newHistory(), news: make(chan struct{}),
		pool: newPool(), pass: newPass(), wake: make(chan struct{}, 1),
		quit: quit, done: make(chan struct{}),
	}
	if err := c.load(); err != nil {
		quit()
		return nil, errors.Join(err, lock.Close())
	}
	go c.makeBlocks(ctx, cfg.Beat)
	return c, nil
}

// load reads the chain's files, and writes them when they are not there.
func (c *Chain) load() (err error) {
	from := c.loadSnapshot()
	log, err := openLog(filepath.Join(c.dir, "blocks.log"), from, c.loadRecord)
	if err != nil {
		return err
	}
	c.history.log = log
	fresh := len(c.history.blocks) == 0
	c.key, err = loadKey(filepath.Join(c.dir, "faucet.key"), fresh)
	switch {
	case err != nil:
	case fresh:
		err = c.writeGenesis()
	default:
		c.head, err = c.history.block(c.history.height())
	}
	if err != nil {
		return errors.Join(err, log.close())
	}
	return nil
}

func (c *Chain) loadRecord(payload []byte, at span) error {
	r, err := decodeRecord(payload)
	if err != nil {
		return err
	}
	if want := uint64(len(c.history.blocks)); r.Number != want {
		return fmt.Errorf("got block %d, want %d", r.Number, want)
	}
	c.history.push(r.Hash, r.Txs, at, newRecent(nil, c.state.apply(r.Changes)))
	return nil
}

// tell wakes those who wait for a new head. The caller holds mu, or is alone.
func (c *Chain) tell() {
	close(c.news)
	c.news = make(chan struct{})
}

// Close stops the chain. What was mined is on the disk already; what waits in
// the pool is forgotten.
func (c *Chain) Close() error {
	c.quit()
	<-c.done
	return errors.Join(c.history.log.close(), c.lock.Close())
}
