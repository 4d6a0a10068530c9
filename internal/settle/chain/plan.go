package chain

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

const (
	maxBatch    = 64
	settleGas   = 150_000 // for one payment of a plain wallet
	memberGas   = 80_000  // for each in a batch
	batchGas    = 100_000 // for the batch itself
	contractGas = 600_000 // for one payment of a contract wallet, which may use all of it; see deployGas
	refundGas   = 150_000 // for one refund
)

// A transferAttempt is the next attempt of a payment or refund.
type transferAttempt struct {
	*wait
	attempt int
	plain   bool        // the payer has no code
	deploy  *deployment // must precede the transfer; nil for wallets that need none
}

// plan signs transactions for payments that are in none that can still be mined.
// Payments of plain wallets share a transaction. Each payment of a contract
// wallet has its own, because the code of the wallet may use up all the gas.
func (l *lane) plan(ctx context.Context, pending []*transferAttempt) (signed bool, err error) {
	pending = onePerPurpose(pending)
	if len(pending) == 0 {
		return false, nil
	}
	if err := l.markWallets(ctx, pending); err != nil {
		return false, err
	}
	var combined []*transferAttempt
	for _, t := range pending {
		if t.plain {
			combined = append(combined, t)
			continue
		}
		gas := uint64(batchGas + contractGas)
		if t.deploy != nil {
			if err := l.s.checkFactory(t.auth); err != nil {
				l.stuck(t.wait, err.Error()) // the list has changed
				continue
			}
			gas += deployGas
		}
		some, err := l.signAttempts(ctx, []*transferAttempt{t}, gas, l.stuck)
		note(err, t.wait)
		signed = signed || some
	}
	for some := range slices.Chunk(combined, maxBatch) {
		// Payments with the same attempt number share a transaction.
		for attempt := 1; attempt <= maxAttempts; attempt++ {
			group := ofAttempt(some, attempt)
			if len(group) > 0 {
				l.sendMeanwhile(ctx)
			}
			ok, err := l.signAttempts(ctx, group, batchGas+memberGas*uint64(len(group)), l.stuck)
			if err != nil {
				return signed, err
			}
			signed = signed || ok
		}
	}
	return signed, nil
}

// onePerPurpose keeps one attempt for each purpose. A second payment with the
// same nonce waits.
func onePerPurpose(pending []*transferAttempt) (kept []*transferAttempt) {
	seen := map[string]bool{}
	for _, t := range pending {
		if !seen[t.purpose] {
			kept = append(kept, t)
		}
		seen[t.purpose] = true
	}
	return kept
}

func ofAttempt(pending []*transferAttempt, attempt int) (some []*transferAttempt) {
	for _, t := range pending {
		if t.attempt == attempt {
			some = append(some, t)
		}
	}
	return some
}

// markWallets finds out which payers are plain wallets, and whose wallet must be
// deployed. A wrapped signature of a wallet that has code by now is used without its
// deployment. Whether a signature is that of the plain wallet is left to the simulation,
// unless it has another length: long ones could use up the gas that others share.
func (l *lane) markWallets(ctx context.Context, pending []*transferAttempt) error {
	accounts := make([]common.Address, len(pending))
	for i, t := range pending {
		accounts[i] = t.auth.from
	}
	code, err := l.c.hasCode(ctx, accounts)
	if err != nil {
		return err
	}
	for i, t := range pending {
		if code[i] {
			continue
		}
		if t.auth.deploy != nil && !t.auth.signedByKey(l.s.Network.Domain()) {
			t.deploy = t.auth.deploy
			continue
		}
		t.plain = len(t.auth.sig) == crypto.SignatureLength
	}
	return nil
}

// signAttempts simulates the transfers exactly as they would be sent: in this
// order, from our sender, for the fees that we would pay. It signs one
// transaction with all that succeed, and calls fails for the others.
func (l *lane) signAttempts(ctx context.Context, pending []*transferAttempt, gas uint64, fails func(w *wait, reason string)) (signed bool, err error) {
	if len(pending) == 0 {
		return false, nil
	}
	o := draft{gas: settleGas, attempt: pending[0].attempt, calls: map[string][]byte{}}
	if o.fees, err = l.fees(ctx); err != nil {
		return false, err
	}
	used, results, err := l.simulate(ctx, pending, gas, o.fees)
	if err != nil {
		return false, fmt.Errorf("simulate %d transfers: %w", len(pending), err)
	}
	for i, t := range pending {
		ok, reason := transferResult(t.deploy, results[i])
		switch {
		case used[i]:
			// A third party was faster. The final block will show what it did.
			note(fmt.Errorf("%w: its nonce is used in a block that is not final yet", errWaiting), t.wait)
		case !ok:
			fails(t.wait, reason)
		default:
			o.calls[t.purpose] = t.auth.call()
		}
	}
	if len(o.calls) == 0 {
		return false, nil
	}
	if len(pending) == 1 && !pending[0].plain {
		o.gas, o.alone, o.deploy = gas, true, pending[0].deploy // through the batch contract, as in the simulation
	}
	for _, t := range pending {
		t.again = l.s.Now().Add(l.s.Network.BlockTime) // another node may have signed or abandoned it
	}
	return true, l.sign(ctx, o)
}

// simulate returns, for each attempt, whether its nonce is used in the newest
// block, and the result of its transfer.
func (l *lane) simulate(ctx context.Context, pending []*transferAttempt, gas uint64, offer *fees) (used []bool, results []callResult, err error) {
	var members []batchCall
	for _, t := range pending {
		members = append(members, batchCall{l.s.token, true, pack(tokenABI, "authorizationState", t.auth.from, t.auth.nonce)})
	}
	for _, t := range pending {
		members = append(members, l.s.simulated(t.auth, t.deploy))
	}
	q := callMsg{from: l.address(), to: l.s.multicall, gas: gas + stateGas*uint64(len(pending)), fees: offer}
	all, err := l.c.callBatch(ctx, q, members, "latest")
	if err != nil {
		return nil, nil, err
	}
	for _, a := range all[:len(pending)] {
		n, err := a.number()
		if err != nil {
			return nil, nil, err
		}
		used = append(used, n.Sign() != 0)
	}
	return used, all[len(pending):], nil
}
