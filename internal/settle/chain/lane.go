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

// refundSlots are the concurrent calls that are reserved for refunds.
const refundSlots = 4

// A lane works for one kind of waits: payments or refunds. It has its own signer,
// leader, waits and slots, so that no lane waits for another.
type lane struct {
	*reader
	signer  signer.Signer
	role    string // of the wallets that sign in it
	advance func(ctx context.Context, v *view, waits []*wait) (signed bool, err error)

	current *roundState // used by the leader only

	sending   sync.Mutex // held while what a round has signed is sent in the background
	sendError error      // of that; guarded by sending

	leader chan struct{} // holds a token while one caller works for all that wait
	joined chan struct{} // holds a token when a caller has joined

	mu         sync.Mutex // guards the fields below
	waiting    map[string]*wait
	sentAt     map[string]time.Time // when we sent a transaction last, by hash
	finalNonce map[common.Address]finalCount
}

func newLane(s *Settler, c *Client, by signer.Signer, role string) *lane {
	return &lane{
		reader: &reader{s: s, c: c}, signer: by, role: role,
		leader: make(chan struct{}, 1), joined: make(chan struct{}, 1),
		waiting: map[string]*wait{}, sentAt: map[string]time.Time{}, finalNonce: map[common.Address]finalCount{},
	}
}

// roundState is what the current round of a lane has read, and signed.
type roundState struct {
	prepared *preparation
	mined    map[common.Address]uint64 // transaction counts in the newest block
	next     uint64                    // the next nonce of the signer, as the store has it; 0: unknown
	minable  uint64                    // the nonce that is mined next after unsent and what was sent
	unsent   []settle.Transaction      // signed, and minable in this order
	blocked  bool                      // something was signed that earlier transactions must precede
}

// address returns the account that signs in the lane now.
func (l *lane) address() common.Address { return addressOf(l.signer.Address()) }

// A wait is a payment or refund whose outcome one or more callers wait for.
type wait struct {
	key     string // identifies the wait
	purpose string // identifies its transactions in the store
	amount  deed.USDC
	auth    *authorization // of a payment, or the one that a refund is made by
	refund  settle.Refund  // of a refund

	callers int           // guarded by lane.mu, like cause
	cause   error         // why the last complete round had no outcome; may be nil
	done    chan struct{} // closed when the fields below are set
	txHash  string
	err     error

	// The fields below are used by the leader only.
	found    error              // why this round has no outcome
	seen     common.Hash        // the head of the last round without an error
	low      uint64             // a block in which the nonce was unused
	again    time.Time          // when to check again although the head is the same; zero: only with another head
	used     bool               // the nonce was used in some block
	alone    bool               // it needs a transaction of its own
	reverted bool               // a transaction that it shared has failed
	own      settle.Transaction // the last one that this process signed
}

// await waits for an outcome. One of the waiting callers is the leader: it works
// for all of them, round after round, until it has its own outcome or its context
// ends; then another caller leads. So payments that arrive together share
// transactions, and no work is done when no caller is left.
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

// work runs one round and waits until the next is due.
func (l *lane) work(ctx context.Context, w *wait) {
	defer func() { <-l.leader }()
	if w.resolved() || ctx.Err() != nil {
		return
	}
	head, sent := l.round(ctx)
	if sent && l.s.Network.BlockTime < time.Second {
		return // the next round may see the transaction mined
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

// untilNext returns the time until the block after head is expected. On a chain
// with slow blocks it polls when the next block is due.
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
	default: // the leader has a token already
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

// resolve sets the outcome of a wait.
func (l *lane) resolve(w *wait, txHash string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[w.key] == w {
		delete(l.waiting, w.key)
	}
	w.txHash, w.err = txHash, err
	close(w.done)
}

func (w *wait) resolved() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// note adds the reason why some waits have no outcome in this round.
func note(cause error, some ...*wait) {
	for _, w := range some {
		w.found = errors.Join(w.found, cause)
	}
}

// unknown returns the error for a caller whose context ended before the outcome
// was known.
func (l *lane) unknown(w *wait, why error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Errorf("%s: the outcome is unknown: %w", w.purpose, errors.Join(why, w.cause))
}
