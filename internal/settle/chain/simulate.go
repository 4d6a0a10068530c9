package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"deed.example/deed"
)

// A simulation is the execution of transfers exactly as they would be sent: in this
// order, from our sender, for the fees that we would pay.
type simulation struct {
	pending []*transferAttempt
	done    chan struct{} // closed when the fields below are set
	fees    *fees
	results []callResult
	err     error
}

// passes reports whether the transfer succeeds.
func (s *simulation) passes(i int) bool {
	ok, _ := transferResult(s.pending[i].deploy, s.results[i])
	return ok
}

// simulateMeanwhile simulates transfers in the background.
func (l *lane) simulateMeanwhile(ctx context.Context, pending []*transferAttempt) *simulation {
	s := &simulation{pending: pending, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		if s.fees, s.err = l.fees(ctx); s.err == nil {
			s.results, s.err = l.simulate(ctx, pending, s.fees, nil)
		}
	}()
	return s
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

// HasCode implements settle.CodeReader.
func (s *Settler) HasCode(ctx context.Context, w deed.Wallet) (bool, error) {
	code, err := s.Client.hasCode(ctx, []common.Address{addressOf(w)})
	if err != nil {
		return false, err
	}
	return code[0], nil
}

// usesAllGas reports whether a simulation had no gas left for its last members.
func usesAllGas(err error) bool {
	e, ok := errors.AsType[*RemoteError](err)
	return ok && (e.Code == codeReverted || strings.Contains(e.Message, "out of gas"))
}

// examineAll is examine for many, some at a time.
func (l *lane) examineAll(ctx context.Context, failing []*transferAttempt, offer *fees, fails func(w *wait, reason string)) {
	var calls errgroup.Group
	calls.SetLimit(callsAtOnce)
	for _, t := range failing {
		calls.Go(func() error {
			note(l.examine(ctx, t, offer, fails), t.wait)
			return nil
		})
	}
	_ = calls.Wait() // the errors are noted
}

// examine simulates a transfer that failed once more, alone, because others may have used
// up the gas, and reads at the same block whether its nonce is used. It calls fails if it
// fails for another reason. A wallet of code was alone before.
func (l *lane) examine(ctx context.Context, t *transferAttempt, offer *fees, fails func(w *wait, reason string)) error {
	state := batchCall{l.s.token, true, pack(tokenABI, "authorizationState", t.auth.from, t.auth.nonce)}
	results, err := l.simulate(ctx, []*transferAttempt{t}, offer, []batchCall{state})
	if usesAllGas(err) {
		fails(t.wait, "it uses too much gas")
		return nil
	}
	if err != nil {
		return fmt.Errorf("simulate a transfer that fails: %w", err)
	}
	used, err := results[0].number()
	if err != nil {
		return err
	}
	ok, reason := transferResult(t.deploy, results[1])
	switch {
	case used.Sign() != 0:
		// A third party was faster. The final block will show what it did.
		if !t.used {
			t.used, t.again = true, l.s.Now() // the final block may be the same
		}
		return fmt.Errorf("%w: its nonce is used in a block that is not final yet", errWaiting)
	case ok && !t.plain:
		// Its code may tell the two simulations apart, for example by the gas, and the payment
		// would keep its name from others until it expires.
		fails(t.wait, "its wallet accepts the signature at one time, and not at another")
		return nil
	case ok:
		t.alone, t.again = true, l.s.Now().Add(l.s.Network.BlockTime)
		return fmt.Errorf("%w: it succeeds alone", errWaiting)
	}
	fails(t.wait, reason)
	return nil
}
