package devchain

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

// An account is the state of an address without its storage. An account in use is
// immutable: a change replaces it.
type account struct {
	Nonce   uint64
	Balance uint256.Int
	Code    []byte

	codeHash common.Hash // of Code; not in the log, set by apply
}

func (a account) withCode(code []byte) account {
	a.Code, a.codeHash = code, types.EmptyCodeHash
	if len(code) > 0 {
		a.codeHash = crypto.Keccak256Hash(code)
	}
	return a
}

// empty reports whether the account is empty (EIP-161).
func (a *account) empty() bool {
	return a.Nonce == 0 && a.Balance.IsZero() && len(a.Code) == 0
}

// A slot is the key of one word in an account's storage.
type slot struct {
	Address common.Address
	Key     common.Hash
}

func (s slot) compare(t slot) int {
	return cmp.Or(s.Address.Cmp(t.Address), s.Key.Cmp(t.Key))
}

// A view is the accounts and slots after one block. A missing account is nil.
type view interface {
	account(common.Address) *account
	word(slot) common.Hash
}

// A state is the view of the newest block: two flat maps, since this chain serves
// no proofs. Zero words are not stored.
type state struct {
	accounts map[common.Address]*account
	words    map[slot]common.Hash
}

func newState() *state {
	return &state{accounts: map[common.Address]*account{}, words: map[slot]common.Hash{}}
}

func (s *state) account(a common.Address) *account { return s.accounts[a] }
func (s *state) word(at slot) common.Hash          { return s.words[at] }

// changes are the effects of a block on the state. They are in the log, so that the
// chain opens by reading and executes nothing.
type changes struct {
	Accounts []accountChange
	Words    []wordChange
}

type accountChange struct {
	Address common.Address
	Account *account `rlp:"nil"` // nil when deleted
}

type wordChange struct {
	Slot slot
	Word common.Hash
}

// apply applies the changes and returns those that undo them.
func (s *state) apply(c changes) changes {
	var undo changes
	for _, ch := range c.Accounts {
		undo.Accounts = append(undo.Accounts, accountChange{ch.Address, s.accounts[ch.Address]})
		if ch.Account == nil {
			delete(s.accounts, ch.Address)
			continue
		}
		a := ch.Account
		if a.codeHash == (common.Hash{}) {
			hashed := a.withCode(a.Code)
			a = &hashed
		}
		s.accounts[ch.Address] = a
	}
	for _, ch := range c.Words {
		undo.Words = append(undo.Words, wordChange{ch.Slot, s.words[ch.Slot]})
		if ch.Word == (common.Hash{}) {
			delete(s.words, ch.Slot)
			continue
		}
		s.words[ch.Slot] = ch.Word
	}
	return undo
}

// A past is the view of an older block: an overlay with the undo changes on the
// newest state.
type past struct {
	*state
	accounts map[common.Address]*account
	words    map[slot]common.Hash
}

// before returns the view before the given blocks' changes. The undos are ordered
// from the newest block to the oldest.
func (s *state) before(undos []changes) past {
	p := past{s, map[common.Address]*account{}, map[slot]common.Hash{}}
	for _, u := range undos {
		for _, ch := range u.Accounts {
			p.accounts[ch.Address] = ch.Account
		}
		for _, ch := range u.Words {
			p.words[ch.Slot] = ch.Word
		}
	}
	return p
}

func (p past) account(a common.Address) *account {
	if old, ok := p.accounts[a]; ok {
		return old
	}
	return p.state.account(a)
}

func (p past) word(at slot) common.Hash {
	if old, ok := p.words[at]; ok {
		return old
	}
	return p.state.word(at)
}

// all returns the whole view as changes to an empty state.
func (p past) all() changes {
	var c changes
	for a := range p.state.accounts {
		p.accounts[a] = p.account(a)
	}
	for at := range p.state.words {
		p.words[at] = p.word(at)
	}
	for a, acc := range p.accounts {
		if acc != nil {
			c.Accounts = append(c.Accounts, accountChange{a, acc})
		}
	}
	for at, word := range p.words {
		if word != (common.Hash{}) {
			c.Words = append(c.Words, wordChange{at, word})
		}
	}
	return c
}

// changes returns the changes of the draft, in a fixed order.
func (d *draft) changes() changes {
	var c changes
	for _, a := range slices.SortedFunc(maps.Keys(d.accounts), common.Address.Cmp) {
		if is, was := d.accounts[a], d.base.account(a); !same(is, was) {
			c.Accounts = append(c.Accounts, accountChange{a, is})
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(d.words), slot.compare) {
		if word := d.words[at]; word != d.base.word(at) {
			c.Words = append(c.Words, wordChange{at, word})
		}
	}
	return c
}

func same(a, b *account) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Nonce == b.Nonce && a.Balance == b.Balance && bytes.Equal(a.Code, b.Code)
}
