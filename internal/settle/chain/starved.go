package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/settle"
)

// failure returns how one of our final transactions failed to make a transfer: starved if it
// made several, and had no gas left for all of them. A payer without code can borrow some
// (EIP-7702) in the block before the transaction, and that code can use up the gas of the
// others. They are not to blame, so each is sent once more, alone.
func (r *reader) failure(ctx context.Context, v *view, t settle.Transaction, found *receipt) (progress, error) {
	if uint64(found.GasUsed) <= settleGas { // only several can use more than this, or a contract wallet
		return failed, nil
	}
	if how, known := v.failures[t.Hash]; known {
		return how, nil
	}
	stored, err := r.s.Store.Unmined(ctx, t.From, t.Nonce) // with their bytes, beginning with this nonce
	if err != nil {
		return inFlight, fmt.Errorf("read transaction %s: %w", t.Hash, err)
	}
	v.failures[t.Hash] = failed
	for _, s := range stored {
		if s.Hash == t.Hash && r.s.usedUp(s.Raw, uint64(found.GasUsed)) {
			v.failures[t.Hash] = starved
		}
	}
	return v.failures[t.Hash], nil
}

// usedUp reports whether a transaction made several transfers and used up its gas. A call gets
// 63/64 of what is left, and uses all of that if it is not enough. What is given back at the
// end is less than an eighth. Usually several transfers use less than two thirds.
func (s *Settler) usedUp(raw []byte, gasUsed uint64) bool {
	tx := new(types.Transaction)
	if tx.UnmarshalBinary(raw) != nil || gasUsed <= tx.Gas()-tx.Gas()/8 {
		return false
	}
	method := batchABI.Methods["aggregate3"]
	if *tx.To() != s.multicall || len(tx.Data()) < len(method.ID) {
		return false
	}
	in, err := method.Inputs.Unpack(tx.Data()[len(method.ID):])
	if err != nil {
		return false
	}
	transfers := 0
	for _, c := range *abi.ConvertType(in[0], new([]batchCall)).(*[]batchCall) {
		if c.Target == s.token {
			transfers++
		}
	}
	return transfers > 1
}
