package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// A wait is one payment or refund whose outcome somebody waits for. All who
// wait for the same one share it.
type wait struct {
	key     string // tells waits apart
	purpose string // tells transactions apart
	amount  deed.USDC
	auth    *authorization // of a payment
	payee   common.Address // of a refund

	callers int           // guarded by Settler.mu, as cause
	cause   error         // what stood in the way in the last whole round; may be nil
	done    chan struct{} // closed when the fields below are set
	txHash  string
	err     error

	// The leader's own: what stands in the way in this round; the block that the
	// search for the nonce's end goes on from, and whether it is known.
	found   error
	from    uint64
	bounded bool
}

// Settle implements deed.Settler.
func (s *Settler) Settle(ctx context.Context, a deed.Authorization) (txHash string, err error) {
	auth, err := read(a)
	if err != nil {
		return "", err
	}
	if auth.to != s.PayTo || auth.from == s.PayTo {
		// Not a refusal: it may have been ours before the treasury moved.
		return "", fmt.Errorf("settle %s of %s: it pays to %s, which is not our treasury", a.Nonce, a.Payer, a.PayTo)
	}
	purpose := auth.purpose(s.USDC)
	// Who signs twice with one nonce has two payments, of which one can be paid.
	key := fmt.Sprintf("%s %s %x", purpose, auth.digest(s.domain), auth.sig)
	return s.await(ctx, &wait{key: key, purpose: purpose, amount: a.Amount, auth: auth})
}

// Refund implements deed.Settler.
func (s *Settler) Refund(ctx context.Context, id string, to deed.Wallet, amount deed.USDC) (txHash string, err error) {
	if amount <= 0 || !isWallet(to) {
		return "", fmt.Errorf("refund %s: %d to %q is nothing to send", id, amount, to)
	}
	purpose := fmt.Sprintf("refund %x %s", s.USDC, id)
	key := fmt.Sprintf("%s %s %d", purpose, to, amount)
	return s.await(ctx, &wait{key: key, purpose: purpose, amount: amount, payee: common.HexToAddress(string(to))})
}

// refundCall encodes the transfer of a refund.
func (w *wait) refundCall() []byte {
	return pack(tokenABI, "transfer", w.payee, big.NewInt(int64(w.amount)))
}

// await waits for an outcome. One of those who wait leads: it works for all,
// round after round, until it has its answer or gives up, and then another one
// does. So payments that come together go together, and nobody works for a
// caller who has left.
func (s *Settler) await(ctx context.Context, w *wait) (txHash string, err error) {
	w = s.join(w)
	defer s.leave(w)
	for {
		select {
		case <-w.done:
			return w.txHash, w.err
		case <-ctx.Done():
			return "", s.unknown(w, ctx.Err())
		case s.lead <- struct{}{}:
			s.work(ctx, w)
		}
	}
}

// work makes one round and rests until the next is due.
func (s *Settler) work(ctx context.Context, w *wait) {
	defer func() { <-s.lead }()
	if w.answered() || ctx.Err() != nil {
		return
	}
	if s.round(ctx) {
		return // there is something new to see
	}
	rest := time.NewTimer(s.Poll)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-s.fresh:
	case <-w.done:
	case <-ctx.Done():
	}
}

func (s *Settler) join(w *wait) *wait {
	s.mu.Lock()
	defer s.mu.Unlock()
	if same := s.waiting[w.key]; same != nil {
		same.callers++
		return same
	}
	w.callers, w.done = 1, make(chan struct{})
	s.waiting[w.key] = w
	select {
	case s.fresh <- struct{}{}:
	default: // the leader will look anyway
	}
	return w
}

func (s *Settler) leave(w *wait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.callers--; w.callers == 0 && s.waiting[w.key] == w {
		delete(s.waiting, w.key)
	}
}

// answer ends a wait.
func (s *Settler) answer(w *wait, txHash string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[w.key] == w {
		delete(s.waiting, w.key)
	}
	w.txHash, w.err = txHash, err
	close(w.done)
}

func (w *wait) answered() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// note remembers what stands in the way of some.
func note(cause error, some ...*wait) {
	for _, w := range some {
		w.found = errors.Join(w.found, cause)
	}
}

// unknown returns the error of a caller who leaves without an answer.
func (s *Settler) unknown(w *wait, why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Errorf("%s: the outcome is open: %w", w.purpose, errors.Join(why, w.cause))
}
