package chain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/signer"
)

// refundSlots are the calls that refunds may have under way beside all others.
const refundSlots = 4

// A lane works for one kind of waits: payments or refunds. It has its own signer,
// leader, waits and slots, so that no lane waits for another.
type lane struct {
	*reader
	signer  signer.Signer
	role    string // of the wallets that sign in it
	advance func(ctx context.Context, v *view, waits []*wait) (signed bool, err error)

	mined map[common.Address]uint64 // transactions as counted in this round; the leader's own

	leader chan struct{} // holds a token while one caller works for all that wait
	joined chan struct{} // holds a token when somebody has come to wait

	mu         sync.Mutex // guards the fields below
	waiting    map[string]*wait
	sentAt     map[string]time.Time      // when we sent a transaction last, by hash
	finalNonce map[common.Address]uint64 // nonces below it are mined and final
}

func newLane(s *Settler, c *Client, by signer.Signer, role string) *lane {
	return &lane{
		reader: &reader{s: s, c: c}, signer: by, role: role,
		leader: make(chan struct{}, 1), joined: make(chan struct{}, 1),
		waiting: map[string]*wait{}, sentAt: map[string]time.Time{}, finalNonce: map[common.Address]uint64{},
	}
}

// address returns the account that signs in the lane now.
func (l *lane) address() common.Address { return addressOf(l.signer.Address()) }

// A wait is one payment or refund whose outcome somebody waits for. All who
// wait for the same one share it.
type wait struct {
	key     string // tells waits apart
	purpose string // tells transactions apart
	amount  deed.USDC
	auth    *authorization // of a payment, or the one that a refund is made by
	refund  settle.Refund  // of a refund

	callers int           // guarded by lane.mu, as cause
	cause   error         // what stood in the way in the last whole round; may be nil
	done    chan struct{} // closed when the fields below are set
	txHash  string
	err     error

	// The leader's own: what stands in the way in this round; the block in which
	// the last round saw it, without an error; a block that the nonce was unused
	// in; when to look again although nothing has changed.
	found error
	seen  common.Hash
	low   uint64
	again time.Time
}

// await waits for an outcome. One of those who wait leads: it works for all,
// round after round, until it has its answer or gives up, and then another one
// does. So payments that come together go together, and nobody works for a
// caller who has left.
func (l *lane) await(ctx context.Context, w *wait) (txHash string, err error) {
	w = l.join(w)
	defer l.leave(w)
	for {
		select {
		case <-w.done:
			return w.txHash, w.err
		case <-ctx.Done():
			return "", l.unknown(w, ctx.Err())
		case l.leader <- struct{}{}:
			l.work(ctx, w)
		}
	}
}

// work makes one round and rests until the next is due.
func (l *lane) work(ctx context.Context, w *wait) {
	defer func() { <-l.leader }()
	if w.answered() || ctx.Err() != nil {
		return
	}
	head, sent := l.round(ctx)
	if sent && l.s.Network.BlockTime < time.Second {
		return // there is something new to see
	}
	rest := time.NewTimer(l.untilNext(head))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-l.joined:
	case <-w.done:
	case <-ctx.Done():
	}
}

// untilNext returns how long it takes until the block after head should be
// there. Blocks that come slowly are looked for when they are due.
func (l *lane) untilNext(head *block) time.Duration {
	period := l.s.Network.BlockTime
	if head == nil || period < time.Second {
		return period
	}
	due := time.Unix(int64(head.Time), 0).Add(period + period/8)
	if left := due.Sub(l.s.Now()); left > period/8 && left < period {
		return left
	}
	return period
}

func (l *lane) join(w *wait) *wait {
	l.mu.Lock()
	defer l.mu.Unlock()
	if same := l.waiting[w.key]; same != nil {
		same.callers++
		return same
	}
	w.callers, w.done = 1, make(chan struct{})
	l.waiting[w.key] = w
	select {
	case l.joined <- struct{}{}:
	default: // the leader will look anyway
	}
	return w
}

func (l *lane) leave(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.callers--; w.callers == 0 && l.waiting[w.key] == w {
		delete(l.waiting, w.key)
	}
}

// answer ends a wait.
func (l *lane) answer(w *wait, txHash string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[w.key] == w {
		delete(l.waiting, w.key)
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
func (l *lane) unknown(w *wait, why error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Errorf("%s: the outcome is open: %w", w.purpose, errors.Join(why, w.cause))
}
