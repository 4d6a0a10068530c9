package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
// wallet has its own, because the code of the wallet may use up all the gas, and so has
// one that had no gas left.
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
		if t.plain && !t.alone {
			combined = append(combined, t)
			continue
		}
		if t.deploy != nil {
			if err := l.s.checkFactory(t.auth); err != nil {
				l.stuck(t.wait, err.Error()) // the list has changed
				continue
			}
		}
		some, err := l.signAttempts(ctx, []*transferAttempt{t}, l.stuck)
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
			ok, err := l.signAttempts(ctx, group, l.stuck)
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
func (l *lane) signAttempts(ctx context.Context, pending []*transferAttempt, fails func(w *wait, reason string)) (signed bool, err error) {
	if len(pending) == 0 {
		return false, nil
	}
	o := draft{gas: settleGas, attempt: pending[0].attempt, calls: map[string][]byte{}}
	if o.fees, err = l.fees(ctx); err != nil {
		return false, err
	}
	results, err := l.simulate(ctx, pending, o.fees, nil)
	if usesAllGas(err) && len(pending) > 1 {
		return l.signHalves(ctx, pending, fails)
	}
	if err != nil {
		return false, fmt.Errorf("simulate %d transfers: %w", len(pending), err)
	}
	var failing []*transferAttempt
	for i, t := range pending {
		if ok, _ := transferResult(t.deploy, results[i]); ok {
			o.calls[t.purpose] = t.auth.call()
		} else {
			failing = append(failing, t)
		}
	}
	if err := l.examine(ctx, failing, o.fees, fails); err != nil {
		return false, fmt.Errorf("simulate %d transfers that fail: %w", len(failing), err)
	}
	if len(o.calls) == 0 {
		return false, nil
	}
	if len(pending) == 1 && !pending[0].plain {
		o.gas, o.alone, o.deploy = gasOf(pending), true, pending[0].deploy // through the batch contract, as in the simulation
	}
	for _, t := range pending {
		if t.again.IsZero() {
			t.again = l.s.Now().Add(l.s.Network.BlockTime) // another node may have signed or abandoned it
		}
	}
	return true, l.sign(ctx, o)
}

// gasOf returns the gas of a transaction through the batch contract.
func gasOf(pending []*transferAttempt) uint64 {
	if len(pending) > 1 || pending[0].plain && !pending[0].alone {
		return batchGas + memberGas*uint64(len(pending))
	}
	if pending[0].deploy != nil {
		return batchGas + contractGas + deployGas
	}
	return batchGas + contractGas
}

// usesAllGas reports whether a simulation had no gas left for its last members.
func usesAllGas(err error) bool {
	e, ok := errors.AsType[*RemoteError](err)
	return ok && (e.Code == codeReverted || strings.Contains(e.Message, "out of gas"))
}

// signHalves is signAttempts for each half. A payer who has got code since it was read may
// use up the gas of the others, and is alone in the end.
func (l *lane) signHalves(ctx context.Context, pending []*transferAttempt, fails func(w *wait, reason string)) (signed bool, err error) {
	half := len(pending) / 2
	for _, some := range [][]*transferAttempt{pending[:half], pending[half:]} {
		ok, err := l.signAttempts(ctx, some, fails)
		if err != nil {
			return signed, err
		}
		signed = signed || ok
	}
	return signed, nil
}

// examine simulates transfers that failed once more, and reads at the same block whether
// their nonces are used. It calls fails for those that fail for another reason.
func (l *lane) examine(ctx context.Context, failing []*transferAttempt, offer *fees, fails func(w *wait, reason string)) error {
	if len(failing) == 0 {
		return nil
	}
	var states []batchCall
	for _, t := range failing {
		states = append(states, batchCall{l.s.token, true, pack(tokenABI, "authorizationState", t.auth.from, t.auth.nonce)})
	}
	results, err := l.simulate(ctx, failing, offer, states)
	if err != nil {
		return err
	}
	for i, t := range failing {
		used, err := results[i].number()
		if err != nil {
			return err
		}
		ok, reason := transferResult(t.deploy, results[len(states)+i])
		switch {
		case used.Sign() != 0:
			// A third party was faster. The final block will show what it did.
			note(fmt.Errorf("%w: its nonce is used in a block that is not final yet", errWaiting), t.wait)
			if !t.used {
				t.used, t.again = true, l.s.Now() // the final block may be the same
			}
		case ok || reason == "" && len(failing) > 1:
			// The chain has changed; or a payer who has code by now has used up the gas.
			note(fmt.Errorf("%w: it is simulated again, alone", errWaiting), t.wait)
			t.alone, t.again = true, l.s.Now().Add(l.s.Network.BlockTime)
		default:
			fails(t.wait, reason)
		}
	}
	return nil
}

// simulate returns the results of the first calls and of the transfers, one after the
// other in the newest block.
func (l *lane) simulate(ctx context.Context, pending []*transferAttempt, offer *fees, first []batchCall) ([]callResult, error) {
	members := slices.Clip(first)
	for _, t := range pending {
		members = append(members, l.s.simulated(t.auth, t.deploy))
	}
	q := callMsg{from: l.address(), to: l.s.multicall, gas: gasOf(pending) + stateGas*uint64(len(first)), fees: offer}
	return l.c.callBatch(ctx, q, members, "latest")
}
