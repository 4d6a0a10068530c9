package devchain

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"
)

const gasLimit = 60_000_000 // of a block

// Fees are constant: a sandbox has no fee market. They are similar to those of
// Base.
var (
	baseFee = big.NewInt(5_000_000)
	tip     = big.NewInt(1_000_000)
)

// rules are those of Base today. The forks after Osaka are unset, since they change
// gas prices.
var rules = &params.ChainConfig{
	ChainID:                 big.NewInt(ChainID),
	HomesteadBlock:          new(big.Int),
	EIP150Block:             new(big.Int),
	EIP155Block:             new(big.Int),
	EIP158Block:             new(big.Int),
	ByzantiumBlock:          new(big.Int),
	ConstantinopleBlock:     new(big.Int),
	PetersburgBlock:         new(big.Int),
	IstanbulBlock:           new(big.Int),
	MuirGlacierBlock:        new(big.Int),
	BerlinBlock:             new(big.Int),
	LondonBlock:             new(big.Int),
	ArrowGlacierBlock:       new(big.Int),
	GrayGlacierBlock:        new(big.Int),
	TerminalTotalDifficulty: new(big.Int),
	ShanghaiTime:            new(uint64),
	CancunTime:              new(uint64),
	PragueTime:              new(uint64),
	OsakaTime:               new(uint64),
	AmsterdamTime:           nil,
	BogotaTime:              nil,
}

var signer = types.LatestSigner(rules)

// A block is a block with its transactions and receipts.
type block struct {
	header   *types.Header
	hash     common.Hash
	txs      []*types.Transaction
	froms    []common.Address
	receipts types.Receipts
}

func (b *block) number() uint64 { return b.header.Number.Uint64() }

// place fills in the fields of header and receipts that refer to each other.
func (b *block) place() error {
	b.hash = b.header.Hash()
	return b.receipts.DeriveFields(rules, b.hash, b.number(), b.header.Time, b.header.BaseFee, nil, b.txs)
}

// headerAfter starts the header of the block after parent, or of the genesis block.
//
// Its time is the wall clock and never ahead of it: several blocks may have the
// same second. After the clock was set back, new blocks keep the parent's time
// until the clock has caught up.
func headerAfter(parent *block, now time.Time) *types.Header {
	h := &types.Header{
		UncleHash:        types.EmptyUncleHash,
		TxHash:           types.EmptyTxsHash,
		ReceiptHash:      types.EmptyReceiptsHash,
		Difficulty:       new(big.Int),
		Number:           new(big.Int),
		GasLimit:         gasLimit,
		Time:             uint64(now.Unix()),
		BaseFee:          baseFee,
		WithdrawalsHash:  &types.EmptyWithdrawalsHash,
		BlobGasUsed:      new(uint64),
		ExcessBlobGas:    new(uint64),
		ParentBeaconRoot: &common.Hash{},
		RequestsHash:     &types.EmptyRequestsHash,
	}
	rand.Read(h.MixDigest[:]) // never fails; makes the hash of a block differ after a rewind
	if parent != nil {
		h.ParentHash = parent.hash
		h.Number.Add(parent.header.Number, common.Big1)
		h.Time = max(h.Time, parent.header.Time)
	}
	return h
}

// An environment is what the EVMs of a chain have in common.
type environment struct {
	hashOf func(number uint64) common.Hash

	// What was computed once: the results of precompiled contracts, such as the signer of
	// a payment, which is recovered when the payment is checked, simulated and mined; and
	// where code may jump to. Both may be nil.
	precompiles *vm.PrecompileCache
	jumps       vm.JumpDestCache
}

// newEVM returns an EVM that writes to d in a block with header h. Release it afterwards:
// its stack is used again.
func (e environment) newEVM(d *draft, h *types.Header, config vm.Config) *vm.EVM {
	evm := vm.NewEVM(vm.BlockContext{
		CanTransfer: core.CanTransfer,
		Transfer:    core.Transfer,
		GetHash:     e.hashOf,
		Coinbase:    h.Coinbase,
		GasLimit:    h.GasLimit,
		BlockNumber: h.Number,
		Time:        h.Time,
		Difficulty:  h.Difficulty,
		BaseFee:     h.BaseFee,
		BlobBaseFee: common.Big1,
		Random:      &h.MixDigest,
	}, d, rules, config)
	evm.SetPrecompileCache(e.precompiles)
	evm.SetJumpDestCache(e.jumps)
	return evm
}

// A blockDraft is a block under construction.
type blockDraft struct {
	block
	draft *draft
	evm   *vm.EVM
	gas   *core.GasPool
}

func newBlockDraft(base view, h *types.Header, e environment) *blockDraft {
	d := newDraft(base)
	return &blockDraft{
		block: block{header: h},
		draft: d,
		evm:   e.newEVM(d, h, vm.Config{}),
		gas:   core.NewGasPool(h.GasLimit),
	}
}

// add executes one transaction at the end of the block. After an error the block is
// unchanged; a transaction that reverts is not an error.
func (b *blockDraft) add(tx *types.Transaction) error {
	msg, err := core.TransactionToMessage(tx, signer, b.header.BaseFee)
	if err != nil {
		return err
	}
	gas := b.gas.Snapshot()
	res, err := core.ApplyMessage(b.evm, msg, b.gas)
	if err != nil {
		b.draft.RevertToSnapshot(0)
		b.draft.nextTransaction()
		b.gas.Set(gas)
		return err
	}
	r := &types.Receipt{
		Type:              tx.Type(),
		Status:            types.ReceiptStatusSuccessful,
		CumulativeGasUsed: b.gas.CumulativeUsed(),
		Logs:              b.draft.logs,
	}
	if res.Failed() {
		r.Status = types.ReceiptStatusFailed
	}
	r.Bloom = types.CreateBloom(r)
	b.draft.Finalise(params.Rules{})
	b.txs, b.froms, b.receipts = append(b.txs, tx), append(b.froms, msg.From), append(b.receipts, r)
	return nil
}

// finish completes the header and returns the block and its changes of the state.
func (b *blockDraft) finish() (*block, changes, error) {
	b.header.GasUsed = b.gas.CumulativeUsed()
	body := &types.Body{Transactions: b.txs, Withdrawals: []*types.Withdrawal{}}
	done := b.block
	done.header = types.NewBlock(b.header, body, b.receipts, trie.NewStackTrie(nil)).Header()
	if err := done.place(); err != nil {
		return nil, changes{}, fmt.Errorf("place the receipts of block %d: %w", done.number(), err)
	}
	return &done, b.draft.changes(), nil
}
