package chain

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
// one that had no gas left. They are last: each takes calls of its own.
func (l *lane) plan(ctx context.Context, pending []*transferAttempt) (signed bool, err error) {
	pending = onePerPurpose(pending)
	if len(pending) == 0 {
		return false, nil
	}
	if err := l.markWallets(ctx, pending); err != nil {
		return false, err
	}
	var combined, single []*transferAttempt
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
		single = append(single, t)
	}
	signed, err = l.signBatches(ctx, batches(combined))
	for some := range slices.Chunk(single, callsAtOnce) {
		l.sendMeanwhile(ctx)
		signed = l.signSingles(ctx, some) || signed
	}
	return signed, err
}

// callsAtOnce limits the calls of a round that are made at the same time.
const callsAtOnce = 8

// signSingles signs a transaction for each. They are simulated at the same time: anybody can
// make many wallets of code, whose payments must not delay the others.
func (l *lane) signSingles(ctx context.Context, single []*transferAttempt) (signed bool) {
	simulations := make([]*simulation, len(single))
	var calls sync.WaitGroup
	for i, t := range single {
		calls.Go(func() {
			s := l.simulateMeanwhile(ctx, []*transferAttempt{t})
			if <-s.done; s.err == nil && !s.passes(0) {
				note(l.examine(ctx, t, s.fees, l.stuck), t.wait)
				return
			}
			simulations[i] = s
		})
	}
	calls.Wait()
	for i, s := range simulations {
		if s == nil {
			continue
		}
		ok, err := l.signSimulated(ctx, s, l.stuck)
		note(err, single[i].wait)
		signed = signed || ok
	}
	return signed
}

// batches divides attempts into those that share a transaction: they have the same number.
func batches(combined []*transferAttempt) (all [][]*transferAttempt) {
	for some := range slices.Chunk(combined, maxBatch) {
		for attempt := 1; attempt <= maxAttempts; attempt++ {
			if group := ofAttempt(some, attempt); len(group) > 0 {
				all = append(all, group)
			}
		}
	}
	return all
}

// signBatches signs a transaction for each batch. Meanwhile the next one is simulated, and
// the last one is sent.
func (l *lane) signBatches(ctx context.Context, all [][]*transferAttempt) (signed bool, err error) {
	simulating, cancel := context.WithCancel(ctx)
	var next *simulation
	defer func() { // after an error it is not needed
		cancel()
		if next != nil {
			<-next.done
		}
	}()
	for i, batch := range all {
		l.sendMeanwhile(ctx)
		this := next
		if this == nil {
			this = l.simulateMeanwhile(simulating, batch)
		}
		<-this.done
		if i+1 < len(all) {
			next = l.simulateMeanwhile(simulating, all[i+1])
		}
		ok, err := l.signSimulated(ctx, this, l.stuck)
		if err != nil {
			return signed, err
		}
		signed = signed || ok
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
	code, err := l.accountsWithCode(ctx, accounts)
	if err != nil {
		return err
	}
	for _, t := range pending {
		if code[t.auth.from] {
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

// signAttempts simulates transfers. It signs one transaction with all that succeed, and
// calls fails for the others.
func (l *lane) signAttempts(ctx context.Context, pending []*transferAttempt, fails func(w *wait, reason string)) (signed bool, err error) {
	return l.signSimulated(ctx, l.simulateMeanwhile(ctx, pending), fails)
}

// signSimulated is signAttempts for transfers whose simulation has begun.
func (l *lane) signSimulated(ctx context.Context, s *simulation, fails func(w *wait, reason string)) (signed bool, err error) {
	<-s.done
	pending := s.pending
	if usesAllGas(s.err) && len(pending) > 1 {
		return l.signHalves(ctx, pending, fails)
	}
	if s.err != nil {
		return false, fmt.Errorf("simulate %d transfers: %w", len(pending), s.err)
	}
	d := draft{gas: settleGas, attempt: pending[0].attempt, fees: s.fees, calls: map[string][]byte{}}
	var failing []*transferAttempt
	for i, t := range pending {
		if s.passes(i) {
			d.calls[t.purpose] = t.auth.call()
		} else {
			failing = append(failing, t)
		}
	}
	l.examineAll(ctx, failing, d.fees, fails)
	if len(d.calls) == 0 {
		return false, nil
	}
	if len(pending) == 1 && !pending[0].plain {
		d.gas, d.alone, d.deploy = gasOf(pending), true, pending[0].deploy // through the batch contract, as in the simulation
	}
	for _, t := range pending {
		if t.again.IsZero() {
			t.again = l.s.Now().Add(l.s.Network.BlockTime) // another node may have signed or abandoned it
		}
	}
	own, err := l.sign(ctx, d)
	if err != nil {
		return true, err
	}
	for _, t := range pending {
		if d.calls[t.purpose] != nil {
			t.own = own
		}
	}
	return true, nil
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
