package devchain

import (
	"github.com/ethereum/go-ethereum/common"
	ethstate "github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/stateless"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/types/bal"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// A draft is what the EVM writes to: an overlay on a view, which itself is never
// modified. A block's draft becomes its changes; a call's draft is discarded.
//
// Every write goes through set, which also records how to undo it.
type draft struct {
	base     view
	accounts map[common.Address]*account // nil when deleted
	words    map[slot]common.Hash

	// The rest belongs to the current transaction.
	undo      []func()
	original  map[slot]common.Hash // words before the transaction
	transient map[slot]common.Hash
	warm      map[common.Address]bool // the access list (EIP-2929)
	warmSlots map[slot]bool
	touched   map[common.Address]bool
	created   map[common.Address]bool
	destroyed map[common.Address]bool
	refund    uint64
	logs      []*types.Log
}

var _ vm.StateDB = (*draft)(nil)

func newDraft(base view) *draft {
	d := &draft{base: base, accounts: map[common.Address]*account{}, words: map[slot]common.Hash{}}
	d.nextTransaction()
	return d
}

func (d *draft) nextTransaction() {
	d.undo, d.logs, d.refund = nil, nil, 0
	d.original = map[slot]common.Hash{}
	d.transient = map[slot]common.Hash{}
	d.warm = map[common.Address]bool{}
	d.warmSlots = map[slot]bool{}
	d.touched = map[common.Address]bool{}
	d.created = map[common.Address]bool{}
	d.destroyed = map[common.Address]bool{}
}

// set writes m[k] = v so that RevertToSnapshot can undo it.
func set[K comparable, V any](d *draft, m map[K]V, k K, v V) {
	old, had := m[k]
	d.undo = append(d.undo, func() {
		if had {
			m[k] = old
			return
		}
		delete(m, k)
	})
	m[k] = v
}

func (d *draft) Snapshot() int { return len(d.undo) }

func (d *draft) RevertToSnapshot(n int) {
	for len(d.undo) > n {
		last := len(d.undo) - 1
		d.undo[last]()
		d.undo = d.undo[:last]
	}
}

// Finalise ends a transaction: accounts that were destroyed or are empty are
// deleted.
func (d *draft) Finalise(params.Rules) *bal.ConstructionBlockAccessList {
	for a := range d.destroyed {
		d.accounts[a] = nil
		for at := range d.original { // it was created in this transaction, and so was its storage
			if at.Address == a {
				d.words[at] = common.Hash{}
			}
		}
	}
	for a := range d.touched {
		if acc := d.account(a); acc != nil && acc.empty() {
			d.accounts[a] = nil
		}
	}
	d.nextTransaction()
	return nil
}

// account returns the current account, or nil. It must not be modified.
func (d *draft) account(a common.Address) *account {
	if acc, ok := d.accounts[a]; ok {
		return acc
	}
	return d.base.account(a)
}

// change replaces the current account.
func (d *draft) change(a common.Address, f func(*account)) {
	acc := account{codeHash: types.EmptyCodeHash}
	if old := d.account(a); old != nil {
		acc = *old
	}
	f(&acc)
	d.touched[a] = true
	set(d, d.accounts, a, &acc)
}

func (d *draft) CreateAccount(a common.Address) { d.change(a, func(*account) {}) }

func (d *draft) CreateContract(a common.Address) { set(d, d.created, a, true) }

func (d *draft) IsNewContract(a common.Address) bool { return d.created[a] }

func (d *draft) GetBalance(a common.Address) *uint256.Int {
	if acc := d.account(a); acc != nil {
		return acc.Balance.Clone()
	}
	return new(uint256.Int)
}

func (d *draft) AddBalance(a common.Address, v *uint256.Int, _ tracing.BalanceChangeReason) uint256.Int {
	old := *d.GetBalance(a)
	d.change(a, func(acc *account) { acc.Balance.Add(&old, v) })
	return old
}

func (d *draft) SubBalance(a common.Address, v *uint256.Int, _ tracing.BalanceChangeReason) uint256.Int {
	old := *d.GetBalance(a)
	d.change(a, func(acc *account) { acc.Balance.Sub(&old, v) })
	return old
}

func (d *draft) GetNonce(a common.Address) uint64 {
	if acc := d.account(a); acc != nil {
		return acc.Nonce
	}
	return 0
}

func (d *draft) SetNonce(a common.Address, n uint64, _ tracing.NonceChangeReason) {
	d.change(a, func(acc *account) { acc.Nonce = n })
}

func (d *draft) GetCode(a common.Address) []byte {
	if acc := d.account(a); acc != nil {
		return acc.Code
	}
	return nil
}

func (d *draft) GetCodeSize(a common.Address) int { return len(d.GetCode(a)) }

func (d *draft) GetCodeHash(a common.Address) common.Hash {
	if acc := d.account(a); acc != nil {
		return acc.codeHash
	}
	return common.Hash{}
}

func (d *draft) SetCode(a common.Address, code []byte, _ tracing.CodeChangeReason) []byte {
	old := d.GetCode(a)
	d.change(a, func(acc *account) { *acc = acc.withCode(code) })
	return old
}

func (d *draft) word(at slot) common.Hash {
	if word, ok := d.words[at]; ok {
		return word
	}
	return d.base.word(at)
}

func (d *draft) GetState(a common.Address, key common.Hash) common.Hash {
	return d.word(slot{a, key})
}

func (d *draft) GetStateAndCommittedState(a common.Address, key common.Hash) (now, original common.Hash) {
	at := slot{a, key}
	now = d.word(at)
	if original, ok := d.original[at]; ok {
		return now, original
	}
	return now, now
}

func (d *draft) SetState(a common.Address, key, word common.Hash) common.Hash {
	at := slot{a, key}
	old := d.word(at)
	if old == word {
		return old
	}
	if _, ok := d.original[at]; !ok {
		d.original[at] = old
	}
	set(d, d.words, at, word)
	return old
}

func (d *draft) GetTransientState(a common.Address, key common.Hash) common.Hash {
	return d.transient[slot{a, key}]
}

func (d *draft) SetTransientState(a common.Address, key, word common.Hash) {
	set(d, d.transient, slot{a, key}, word)
}

// SelfDestruct is called only for contracts created in the same transaction
// (EIP-6780).
func (d *draft) SelfDestruct(a common.Address) { set(d, d.destroyed, a, true) }

func (d *draft) HasSelfDestructed(a common.Address) bool { return d.destroyed[a] }

func (d *draft) Exist(a common.Address) bool { return d.account(a) != nil }

func (d *draft) Empty(a common.Address) bool {
	acc := d.account(a)
	return acc == nil || acc.empty()
}

func (d *draft) AddRefund(gas uint64) { d.setRefund(d.refund + gas) }
func (d *draft) SubRefund(gas uint64) { d.setRefund(d.refund - gas) }
func (d *draft) GetRefund() uint64    { return d.refund }

func (d *draft) setRefund(gas uint64) {
	old := d.refund
	d.undo = append(d.undo, func() { d.refund = old })
	d.refund = gas
}

// Prepare initializes the access list of a transaction.
func (d *draft) Prepare(_ params.Rules, sender, coinbase common.Address, to *common.Address, precompiles []common.Address, list types.AccessList) {
	d.warm[sender], d.warm[coinbase] = true, true
	if to != nil {
		d.warm[*to] = true
	}
	for _, a := range precompiles {
		d.warm[a] = true
	}
	for _, entry := range list {
		d.warm[entry.Address] = true
		for _, key := range entry.StorageKeys {
			d.warmSlots[slot{entry.Address, key}] = true
		}
	}
}

func (d *draft) AddressInAccessList(a common.Address) bool { return d.warm[a] }

func (d *draft) SlotInAccessList(a common.Address, key common.Hash) (addressOK, slotOK bool) {
	return d.warm[a], d.warmSlots[slot{a, key}]
}

func (d *draft) AddAddressToAccessList(a common.Address) {
	if !d.warm[a] {
		set(d, d.warm, a, true)
	}
}

func (d *draft) AddSlotToAccessList(a common.Address, key common.Hash) {
	d.AddAddressToAccessList(a)
	if at := (slot{a, key}); !d.warmSlots[at] {
		set(d, d.warmSlots, at, true)
	}
}

func (d *draft) AddLog(l *types.Log) {
	n := len(d.logs)
	d.undo = append(d.undo, func() { d.logs = d.logs[:n] })
	d.logs = append(d.logs, l)
}

// The interface of the EVM has further methods for chains with proofs and
// preimages, and one to number logs, which block.place does here.

func (d *draft) SetTxContext(common.Hash, int, uint32) {}
func (d *draft) Touch(common.Address)                  {}
func (d *draft) AddPreimage(common.Hash, []byte)       {}
func (d *draft) Witness() *stateless.Witness           { return nil }
func (d *draft) AccessEvents() *ethstate.AccessEvents  { return nil }
