package chain

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/signer"
)

// A draft is a transaction to be signed.
type draft struct {
	gas     uint64      // when it makes one call
	alone   bool        // use the batch contract although it is one call
	deploy  *deployment // precedes the call of the only purpose; may be nil
	attempt int
	fees    *fees
	calls   map[string][]byte // by purpose
}

// sign allocates a nonce for the draft, has it signed and stores it. Once it is
// stored the money may move: any process that reads the store sends it. What it returns
// has no hash if another process has signed for all purposes meanwhile.
func (l *lane) sign(ctx context.Context, d draft) (stored settle.Transaction, err error) {
	first, err := l.countMined(ctx)
	if err == nil && first > l.current.next {
		first, err = l.confirmMined(ctx)
	}
	if err != nil {
		return stored, err
	}
	in := settle.Intent{From: walletAt(l.address()), First: first, Next: l.current.next, Attempt: d.attempt}
	for purpose := range d.calls {
		in.Purposes = append(in.Purposes, purpose)
	}
	slices.Sort(in.Purposes)
	l.s.step("before store")
	stored, err = l.s.Store.Sign(ctx, in, func(nonce uint64, purposes []string) (settle.Transaction, error) {
		to, gas, data := l.s.combined(d, purposes)
		return l.signed(ctx, signer.Transaction{Nonce: nonce, MaxFee: d.fees.limit, MaxPriorityFee: d.fees.tip, Gas: gas, To: walletAt(to), Data: data})
	})
	l.current.noteSigned(stored, err)
	if err != nil {
		return stored, fmt.Errorf("store a transaction: %w", err)
	}
	l.s.step("after store")
	return stored, nil
}

// noteSigned notes what was stored.
func (r *roundState) noteSigned(t settle.Transaction, err error) {
	switch {
	case err != nil || t.Hash == "":
		r.next = 0
		return
	case t.Nonce == r.minable:
		r.minable++
		r.unsent = append(r.unsent, t)
	default:
		r.blocked = true
	}
	r.next = t.Nonce + 1
}

// combined returns the call of one purpose, or a batch of several.
func (s *Settler) combined(d draft, purposes []string) (to common.Address, gas uint64, data []byte) {
	if len(purposes) == 1 && !d.alone {
		return s.token, d.gas, d.calls[purposes[0]]
	}
	if d.deploy != nil {
		return s.multicall, d.gas, s.deployAndSettle(d.deploy, d.calls[purposes[0]], false)
	}
	var calls [][]byte
	for _, p := range purposes {
		calls = append(calls, d.calls[p])
	}
	return s.multicall, max(d.gas, batchGas+memberGas*uint64(len(calls))), batch(s.token, calls...)
}

// signTimeout limits how long others wait for a signer that does not respond: it may sign
// with the row of its nonce locked, behind a pooler always, and elsewhere when somebody else
// took the nonce meanwhile.
const signTimeout = time.Second

// signed has the signer of the lane sign the transaction for our chain. A signer may
// be another service, so what it returns is compared with what it was asked for
// before it is stored: once it is stored, it is sent.
func (l *lane) signed(ctx context.Context, want signer.Transaction) (settle.Transaction, error) {
	want.ChainID = l.s.Network.ChainID
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	raw, err := l.signer.SignTransaction(ctx, want)
	if err != nil {
		return settle.Transaction{}, fmt.Errorf("sign: %w", err)
	}
	got := new(types.Transaction)
	if err := got.UnmarshalBinary(raw); err != nil {
		return settle.Transaction{}, fmt.Errorf("decode what the signer of %s returned: %w", l.signer.Address(), err)
	}
	from, err := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(want.ChainID)), got)
	if err != nil || from != l.address() || !sameTransaction(got, want) {
		return settle.Transaction{}, fmt.Errorf("the signer of %s returned a transaction that it was not asked for, by %s: %v", l.signer.Address(), from, err)
	}
	return settle.Transaction{From: l.signer.Address(), Nonce: want.Nonce, Hash: got.Hash().Hex(), Raw: raw, SignedAt: l.s.Now()}, nil
}

// sameTransaction reports whether a decoded transaction is the requested one. The
// recovery of its sender has compared the chain ID.
func sameTransaction(got *types.Transaction, want signer.Transaction) bool {
	return got.Type() == types.DynamicFeeTxType && got.Nonce() == want.Nonce && got.Gas() == want.Gas &&
		got.GasFeeCap().Cmp(want.MaxFee) == 0 && got.GasTipCap().Cmp(want.MaxPriorityFee) == 0 && got.Value().Sign() == 0 &&
		got.To() != nil && *got.To() == addressOf(want.To) && bytes.Equal(got.Data(), want.Data) && len(got.AccessList()) == 0
}
