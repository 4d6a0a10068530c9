// Package devchain is a small chain for the sandbox and the tests: a real EVM in
// this process, test USDC at the address clients know, a faucet, and the JSON-RPC
// that wallets use.
//
// A transaction waits in the pool. As soon as there is one, all that wait are
// executed into a block, the block is written to the log and synced, and only then
// applied and visible. Opening the chain reads the log, most of it from a snapshot,
// and executes nothing: mined blocks survive kill -9 and upgrades.
//
// The EVM and its gas rules are go-ethereum's core; the state below it is a flat
// map of this package. Go-ethereum's tries and database would add proofs nobody
// needs, a start-up ten times as slow and a clock that runs ahead of the wall clock
// at many blocks per second.
//
// Its JSON is that of encoding/json, unlike elsewhere in this module, because
// go-ethereum's types are written for it and clients expect exactly their form.
package devchain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/vm"

	"deed.example/deed/internal/network"
)

// ChainID is the ID of the chain; network.EmbeddedChainID says why it is this one.
const ChainID = network.EmbeddedChainID

// WalletFactory is the address of a contract that creates wallets.
const WalletFactory = string(network.EmbeddedFactory)

// The addresses of the token and of Multicall3 are those of the row of the embedded
// chain in package network.
var (
	USDC      = network.Embedded().Token.Address.Checksum()
	Multicall = network.Embedded().Multicall.Checksum()
)

// A Config has the directory of a chain and its clock.
type Config struct {
	Dir string           // for its files; created if missing, used by one process at a time
	Now func() time.Time // the wall clock

	// BlockInterval adds a block, empty if necessary, whenever this much time has
	// passed since the last. It advances the chain's time while clients wait for a
	// payment to expire. Zero adds blocks for transactions only.
	BlockInterval time.Duration
}

// A Chain is an open chain. It is safe for concurrent use.
type Chain struct {
	dir   string
	wall  func() time.Time
	ahead atomic.Int64 // nanoseconds that the chain's clock is ahead of the wall clock

	key  *ecdsa.PrivateKey // of the faucet, which owns the token
	lock *os.File

	precompiles *vm.PrecompileCache
	jumps       vm.JumpDestCache

	nonceMu sync.Mutex // serializes the faucet's nonces; locked before all others

	blockMu    sync.Mutex // held while a block is produced or rewound; guards snapshotAt
	snapshotAt uint64     // the height at which the next snapshot is due

	mu          sync.RWMutex // guards the fields below; they change only while blockMu is held, too
	state       *state
	head        *block
	history     *history
	headChanged chan struct{} // closed when the head changes

	poolMu    sync.Mutex // guards the fields below; locked after mu
	pool      *pool
	paused    bool
	nextRound *miningRound

	wake chan struct{} // holds a value when the pool needs a mining round
	quit context.CancelFunc
	done chan struct{} // closed when the block producer has ended
}

// Open opens the chain in cfg.Dir, or creates a new one.
func Open(cfg Config) (*Chain, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the chain's directory: %w", err)
	}
	lock, err := lockFile(filepath.Join(cfg.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the chain's directory: %w", err)
	}
	ctx, quit := context.WithCancel(context.Background())
	c := &Chain{
		dir: cfg.Dir, wall: cfg.Now, lock: lock, precompiles: vm.NewPrecompileCache(), jumps: core.NewJumpDestCache(),
		snapshotAt: snapshotEvery, state: newState(), history: newHistory(), headChanged: make(chan struct{}),
		pool: newPool(), nextRound: newMiningRound(), wake: make(chan struct{}, 1),
		quit: quit, done: make(chan struct{}),
	}
	if err := c.load(); err != nil {
		quit()
		return nil, errors.Join(err, lock.Close())
	}
	go c.produceBlocks(ctx, cfg.BlockInterval)
	return c, nil
}

// SetAhead moves the chain's clock ahead of the wall clock. It is not stored: set it
// again after Open. The time of a block is never below that of its parent.
func (c *Chain) SetAhead(d time.Duration) { c.ahead.Store(int64(d)) }

// now returns the chain's time.
func (c *Chain) now() time.Time { return c.wall().Add(time.Duration(c.ahead.Load())) }

// environment returns what EVMs need. The caller holds mu or blockMu.
func (c *Chain) environment() environment {
	return environment{c.history.hashOf, c.precompiles, c.jumps}
}

// load reads the chain's files, and creates missing ones.
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

// notifyHead wakes the goroutines that wait for a new head. The caller holds mu, or
// has exclusive access.
func (c *Chain) notifyHead() {
	close(c.headChanged)
	c.headChanged = make(chan struct{})
}

// Close stops the chain. Mined blocks are on disk already; pending transactions are
// lost.
func (c *Chain) Close() error {
	c.quit()
	<-c.done
	return errors.Join(c.history.log.close(), c.lock.Close())
}
