//go:build long

package devchain_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Random programs cover the edge cases of the state: refunds, creations,
// self-destruction, transient storage, reverts inside calls.
func TestAnvilAgreesOnRandomPrograms(t *testing.T) {
	d := newComparison(t)
	w := d.fund(t, 1)
	r := rand.New(rand.NewPCG(1, 2))
	succeeded := 0
	var made []common.Address
	for i := range 600 {
		data := program(r, made)
		got := d.do(t, fmt.Sprint("program ", i), w, &types.LegacyTx{Nonce: d.next[w.addr], Gas: 300_000, GasPrice: big.NewInt(1e9), Data: data, Value: big.NewInt(int64(r.IntN(3)))})
		if got.Status == 1 {
			succeeded++
			made = append(made, *got.ContractAddress)
		}
	}
	t.Logf("%d programs with equal receipts, %d of them succeeded", 600, succeeded)
	if succeeded < 100 {
		t.Errorf("got %d programs that succeeded, want more: they cover too little", succeeded)
	}
}

// assembler writes random code.
type assembler struct {
	*rand.Rand
	made []common.Address // contracts to call
	code []byte
}

func (a *assembler) op(b ...byte) { a.code = append(a.code, b...) }

// small pushes one of a few numbers, so that keys, values and salts collide.
func (a *assembler) small() { a.op(0x60, byte(a.IntN(4))) }

// program returns code that accesses storage, calls existing contracts, creates
// contracts and returns the code of its own contract.
func program(r *rand.Rand, made []common.Address) []byte {
	a := &assembler{Rand: r, made: made}
	for range 3 + r.IntN(25) {
		a.step()
	}
	// The deployed code: SLOAD, add one, SSTORE, and sometimes SELFDESTRUCT or REVERT.
	left := []byte{0x60, 1, 0x54, 0x60, 1, 0x01, 0x60, 1, 0x55}
	switch r.IntN(4) {
	case 0:
		left = append(left, 0x33, 0xff)
	case 1:
		left = append(left, 0x60, 0, 0x60, 0, 0xfd)
	}
	a.op(0x60 + byte(len(left)) - 1)
	a.op(left...)
	a.op(0x60, 0, 0x52, 0x60, byte(len(left)), 0x60, byte(32-len(left)), 0xf3)
	return a.code
}

func (a *assembler) step() {
	switch a.IntN(14) {
	case 0, 1, 2:
		a.small()
		a.small()
		a.op(0x55) // SSTORE
	case 3:
		a.small()
		a.op(0x54, 0x50) // SLOAD POP
	case 4:
		a.small()
		a.small()
		a.op(0x5d) // TSTORE
	case 5:
		a.small()
		a.op(0x5c) // TLOAD
		a.small()
		a.op(0x55) // SSTORE
	case 6:
		a.small()
		a.op(0x60, 32, 0x60, 0, 0xa1) // LOG1 of a word
	case 7, 8, 9:
		a.call()
	case 10:
		a.create()
	case 11:
		a.op(0x30, 0x31, 0x60, 2, 0x55, 0x30, 0x3f, 0x50) // own BALANCE into SSTORE, EXTCODEHASH
	case 12:
		if a.IntN(6) == 0 {
			a.op([]byte{0xfd, 0xfe, 0x33}[a.IntN(3)], 0xff) // REVERT, INVALID, CALLER SELFDESTRUCT
		}
	case 13:
		a.small()
		a.small()
		a.small()
		a.op(0x08, 0x50) // ADDMOD POP
	}
}

// call calls a contract or a precompile with some gas, and stores the outcome.
func (a *assembler) call() {
	to := common.BytesToAddress([]byte{byte(1 + a.IntN(10))})
	if len(a.made) > 0 && a.IntN(4) > 0 {
		to = a.made[a.IntN(len(a.made))]
	}
	a.op(0x60, 0, 0x60, 0, 0x60, byte(a.IntN(64)), 0x60, 0) // return and argument areas
	kind := []byte{0xf1, 0xf1, 0xf4, 0xfa}[a.IntN(4)]       // CALL, DELEGATECALL, STATICCALL
	if kind == 0xf1 {
		a.small() // value
	}
	a.op(0x73)
	a.op(to[:]...)
	a.op(0x61, byte(a.IntN(256)), byte(a.IntN(256)), kind)
	a.op(0x60, 3, 0x55) // SSTORE at 3
}

// create creates a contract that destroys itself, or remains without code.
func (a *assembler) create() {
	child := []byte{0x60, byte(a.IntN(3)), 0x60, 1, 0x55, 0x33, 0xff} // SSTORE, CALLER SELFDESTRUCT
	if a.IntN(2) == 0 {
		child = child[:5+a.IntN(2)]
	}
	a.op(0x66 - byte(7-len(child)))
	a.op(child...)
	a.op(0x60, 0, 0x52)                                                                        // MSTORE
	a.small()                                                                                  // salt
	a.op(0x60, byte(len(child)), 0x60, byte(32-len(child)), 0x60, byte(a.IntN(2)), 0xf5, 0x50) // CREATE2 POP
}
