package chain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
)

const (
	maxBatch    = 64
	maxAttempts = 5       // of one payment: each may burn gas for nothing
	settleGas   = 150_000 // for one payment of a plain wallet
	memberGas   = 80_000  // for each in a batch
	batchGas    = 100_000 // for the batch itself
	contractGas = 600_000 // for one payment of a wallet made of code, which may burn what it is given
	refundGas   = 100_000
)

// A turn is the next attempt of a payment.
type turn struct {
	*wait
	attempt int
	plain   bool // the payer has no code
}

// plan signs for the payments that nothing of ours is under way for. Those of
// plain wallets share a transaction. Wallets made of code go alone, as does
// everything that failed before: whoever spoils a batch spoils it once.
func (s *Settler) plan(ctx context.Context, v *view, unused []*wait) (planned bool, err error) {
	turns, err := s.due(ctx, v, unused)
	if err != nil || len(turns) == 0 {
		return false, err
	}
	if err := s.tellApart(ctx, turns); err != nil {
		return false, err
	}
	var together []*turn
	for _, t := range turns {
		if t.plain && t.attempt == 1 {
			together = append(together, t)
			continue
		}
		signed, err := s.settleAlone(ctx, t)
		if err != nil {
			note(err, t.wait)
		}
		planned = planned || signed
	}
	for some := range slices.Chunk(together, maxBatch) {
		signed, err := s.settleTogether(ctx, some)
		if err != nil {
			return planned, err
		}
		planned = planned || signed
	}
	return planned, nil
}

// due returns the payments whose turn it is: never tried, or tried by a
// transaction that is final and left the nonce unused.
func (s *Settler) due(ctx context.Context, v *view, unused []*wait) (turns []*turn, err error) {
	mined := sync.OnceValues(func() (uint64, error) { return s.Client.count(ctx, s.hot(), v.final.ref()) })
	for _, w := range unused {
		sent := v.sent[w.purpose]
		if len(sent) == 0 {
			turns = append(turns, &turn{wait: w, attempt: 1})
			continue
		}
		last := sent[len(sent)-1]
		if last.Attempt >= maxAttempts {
			continue // it stays open until it expires, or somebody else settles it
		}
		n, err := mined()
		if err != nil {
			return nil, fmt.Errorf("count our transactions: %w", err)
		}
		if last.Nonce < n && !s.Now().Before(last.SignedAt.Add(pause(last.Attempt))) {
			turns = append(turns, &turn{wait: w, attempt: last.Attempt + 1})
		}
	}
	return turns, nil
}

// tellApart finds out which payers are plain wallets.
func (s *Settler) tellApart(ctx context.Context, turns []*turn) error {
	errs := make([]error, len(turns))
	var wg sync.WaitGroup
	for i, t := range turns {
		if !t.auth.signedByKey(s.domain) {
			continue
		}
		wg.Go(func() {
			var code bool
			code, errs[i] = s.Client.hasCode(ctx, t.auth.from)
			t.plain = !code
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// settleAlone signs for one payment, unless the chain says that it would fail.
func (s *Settler) settleAlone(ctx context.Context, t *turn) (signed bool, err error) {
	o := order{key: s.HotKey, to: s.USDC, gas: contractGas, attempt: t.attempt, calls: map[string][]byte{t.purpose: t.auth.call()}}
	if t.plain {
		o.gas = settleGas
	}
	q := question{from: s.hot(), to: s.USDC, data: t.auth.call(), gas: o.gas}
	if _, err := s.Client.ask(ctx, q, "latest"); err != nil {
		return false, fmt.Errorf("try the transfer: %w", err)
	}
	return true, s.sign(ctx, o)
}

// settleTogether signs for all that would succeed, in this order.
func (s *Settler) settleTogether(ctx context.Context, turns []*turn) (signed bool, err error) {
	var calls [][]byte
	for _, t := range turns {
		calls = append(calls, t.auth.call())
	}
	answers, err := s.askBatch(ctx, batch(s.USDC, calls...), batchGas+memberGas*uint64(len(calls)), "latest")
	if err != nil {
		return false, fmt.Errorf("try %d transfers: %w", len(calls), err)
	}
	o := order{key: s.HotKey, to: s.USDC, gas: settleGas, attempt: 1, calls: map[string][]byte{}}
	for i, t := range turns {
		if !answers[i].Success {
			note(fmt.Errorf("the transfer would fail: %s", answers[i].reason()), t.wait)
			continue
		}
		o.calls[t.purpose] = calls[i]
	}
	if len(o.calls) == 0 {
		return false, nil
	}
	return true, s.sign(ctx, o)
}

// An order is a transaction to be signed.
type order struct {
	key     *ecdsa.PrivateKey
	to      common.Address
	gas     uint64 // when it makes one call
	attempt int
	calls   map[string][]byte // by purpose
}

// sign gives the order its nonce and writes it down. From the moment it is
// written the money may move: whoever reads the store next sends it.
func (s *Settler) sign(ctx context.Context, o order) error {
	from := crypto.PubkeyToAddress(o.key.PublicKey)
	first, err := s.Client.count(ctx, from, "latest")
	if err != nil {
		return fmt.Errorf("count our transactions: %w", err)
	}
	tip, most, err := s.fees(ctx)
	if err != nil {
		return err
	}
	in := deed.Intent{From: walletAt(from), First: first, Attempt: o.attempt}
	for purpose := range o.calls {
		in.Purposes = append(in.Purposes, purpose)
	}
	slices.Sort(in.Purposes)
	s.step("before store")
	err = s.Store.Sign(ctx, in, func(nonce uint64, purposes []string) (deed.Transaction, error) {
		if nonce < first {
			// Somebody else has our key, or the store is older than the chain.
			return deed.Transaction{}, fmt.Errorf("%s has %d transactions on the chain and is at %d in the store", from, first, nonce)
		}
		to, gas, data := s.together(o, purposes)
		return s.signed(o.key, &types.DynamicFeeTx{
			ChainID: new(big.Int).SetUint64(s.ChainID), Nonce: nonce, GasTipCap: tip, GasFeeCap: most,
			Gas: gas, To: &to, Data: data,
		})
	})
	if err != nil {
		return fmt.Errorf("write a transaction down: %w", err)
	}
	s.step("after store")
	return nil
}

// together returns the call of one purpose, or the batch of several.
func (s *Settler) together(o order, purposes []string) (to common.Address, gas uint64, data []byte) {
	if len(purposes) == 1 {
		return o.to, o.gas, o.calls[purposes[0]]
	}
	var calls [][]byte
	for _, p := range purposes {
		calls = append(calls, o.calls[p])
	}
	return s.Multicall, batchGas + memberGas*uint64(len(calls)), batch(s.USDC, calls...)
}

func (s *Settler) signed(key *ecdsa.PrivateKey, what *types.DynamicFeeTx) (deed.Transaction, error) {
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(what.ChainID), what)
	if err != nil {
		return deed.Transaction{}, fmt.Errorf("sign: %w", err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return deed.Transaction{}, fmt.Errorf("encode: %w", err)
	}
	from := walletAt(crypto.PubkeyToAddress(key.PublicKey))
	return deed.Transaction{From: from, Nonce: what.Nonce, Hash: tx.Hash().Hex(), Raw: raw, SignedAt: s.Now()}, nil
}
