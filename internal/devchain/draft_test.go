package devchain

import (
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

var (
	alice, bob = common.Address{1}, common.Address{2}
	key        = common.Hash{7}
	one, two   = common.Hash{31: 1}, common.Hash{31: 2}
)

// someState has an account with code and a word, and one with a balance.
func someState() *state {
	s := newState()
	s.apply(changes{
		Accounts: []accountChange{
			{alice, &account{Nonce: 1, Code: []byte{0xfe}}},
			{bob, &account{Balance: *uint256.NewInt(5)}},
		},
		Words: []wordChange{{slot{alice, key}, one}},
	})
	return s
}

func TestDraftRevertsEverything(t *testing.T) {
	d := newDraft(someState())
	d.Prepare(params.Rules{}, bob, common.Address{}, nil, nil, nil)
	look := func() []any {
		inList, slotInList := d.SlotInAccessList(alice, key)
		return []any{
			*d.GetBalance(bob), d.GetNonce(bob), d.GetCode(alice), d.GetCodeHash(alice), d.GetState(alice, key),
			d.GetTransientState(alice, key), d.GetRefund(), d.HasSelfDestructed(alice), d.IsNewContract(common.Address{3}),
			d.Exist(common.Address{3}), inList, slotInList, len(d.logs),
		}
	}
	before, at := look(), d.Snapshot()
	d.AddBalance(bob, uint256.NewInt(3), 0)
	d.SubBalance(bob, uint256.NewInt(1), 0)
	d.SetNonce(bob, 9, 0)
	d.SetCode(alice, []byte{1, 2}, 0)
	d.SetState(alice, key, two)
	d.SetTransientState(alice, key, two)
	d.AddRefund(100)
	d.SubRefund(40)
	d.SelfDestruct(alice)
	d.CreateAccount(common.Address{3})
	d.CreateContract(common.Address{3})
	d.AddSlotToAccessList(alice, key)
	d.AddLog(&types.Log{})
	for i, got := range look() {
		if reflect.DeepEqual(got, before[i]) {
			t.Errorf("mark %d did not change: %v", i, got)
		}
	}
	d.RevertToSnapshot(at)
	if got := look(); !reflect.DeepEqual(got, before) {
		t.Errorf("got %v, want %v", got, before)
	}
	d.Finalise(params.Rules{})
	if got := d.changes(); len(got.Accounts)+len(got.Words) != 0 {
		t.Errorf("got changes %+v, want none", got)
	}
}

func TestDraftClearsTransactionState(t *testing.T) {
	d := newDraft(someState())
	made := common.Address{3}
	d.AddBalance(common.Address{4}, new(uint256.Int), 0) // touched and empty (EIP-161)
	d.CreateAccount(made)
	d.CreateContract(made)
	d.SetNonce(made, 1, 0)
	d.SetState(made, key, one)
	d.SetTransientState(made, key, one)
	d.AddRefund(5)
	d.SelfDestruct(made) // it goes, and its storage (EIP-6780)
	d.SubBalance(bob, uint256.NewInt(5), 0)
	d.Finalise(params.Rules{})
	if d.Exist(made) || d.Exist(common.Address{4}) || d.Exist(bob) {
		t.Error("an account that was destroyed or left empty is still there")
	}
	if d.GetState(made, key) != (common.Hash{}) || d.GetTransientState(made, key) != (common.Hash{}) || d.GetRefund() != 0 {
		t.Error("the next transaction sees words or refunds of the last")
	}
	want := changes{Accounts: []accountChange{{bob, nil}}}
	if got := d.changes(); !reflect.DeepEqual(got, want) {
		t.Errorf("got changes %+v, want %+v", got, want)
	}
}

func TestCommittedState(t *testing.T) {
	d := newDraft(someState())
	d.SetState(alice, key, two)
	if now, original := d.GetStateAndCommittedState(alice, key); now != two || original != one {
		t.Errorf("got %v from %v, want %v from %v", now, original, two, one)
	}
	d.Finalise(params.Rules{})
	if now, original := d.GetStateAndCommittedState(alice, key); now != two || original != two {
		t.Errorf("in the next transaction: got %v from %v, want %v from itself", now, original, two)
	}
}

func TestChangesAreUndone(t *testing.T) {
	s, untouched := someState(), someState()
	undo := s.apply(changes{
		Accounts: []accountChange{{alice, &account{Nonce: 2}}, {bob, nil}, {common.Address{3}, &account{Nonce: 1}}},
		Words:    []wordChange{{slot{alice, key}, common.Hash{}}, {slot{bob, key}, two}},
	})
	if s.account(bob) != nil || s.word(slot{alice, key}) != (common.Hash{}) || len(s.words) != 1 {
		t.Error("a deleted account or word is still there")
	}
	past := s.before([]changes{undo})
	if past.account(bob) == nil || past.account(common.Address{3}) != nil || past.word(slot{alice, key}) != one || past.word(slot{bob, key}) != (common.Hash{}) {
		t.Error("the state before the block differs")
	}
	if s.apply(undo); !reflect.DeepEqual(s, untouched) {
		t.Errorf("got %+v, want %+v", s, untouched)
	}
}
