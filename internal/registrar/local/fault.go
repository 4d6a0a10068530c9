package local

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deed.example/deed"
)

// A Fault is a way in which the registry fails when it is told to.
type Fault string

// The faults. Down and slow hit every call, the others only orders.
const (
	FaultNone         Fault = "none"
	FaultDown         Fault = "down"          // nothing is done, and nobody replies
	FaultSlow         Fault = "slow"          // all is done, after a while
	FaultRefuse       Fault = "refuse"        // the order is refused for good
	FaultLostReply    Fault = "lost_reply"    // the order is executed, and nobody replies
	FaultLate         Fault = "late"          // nobody replies, and the order is executed later
	FaultParked       Fault = "parked"        // nobody replies, and the order waits for a person
	FaultTaken        Fault = "taken"         // the order is refused: somebody has the name
	FaultWrongAccount Fault = "wrong_account" // the name is registered to somebody else
)

var faults = []Fault{FaultNone, FaultDown, FaultSlow, FaultRefuse, FaultLostReply, FaultLate, FaultParked, FaultTaken, FaultWrongAccount}

// ParseFault reads the name of a fault. It fails with CodeValidation.
func ParseFault(s string) (Fault, error) {
	if f := Fault(s); slices.Contains(faults, f) {
		return f, nil
	}
	return "", deed.Invalid("registrar", "must be one of %v", faults)
}

// How long a slow call waits, and how much later a late order is executed, when
// nobody says.
const (
	defaultSlow = 3 * time.Second
	defaultLate = time.Minute
)

// errDown is what a caller meets when the registry is down.
var errDown = errors.New("the registry is down")

// Faults is the switch for faults. It lives in the process and is forgotten with
// it. The zero Faults has none on; it is safe for concurrent use.
type Faults struct {
	Slow time.Duration // how long a slow call waits; three seconds when zero
	Late time.Duration // how much later, by the registry's clock, a late order is executed; a minute when zero

	mu   sync.Mutex
	kind Fault // guarded by mu, as left
	left int   // 0: until it is switched off
}

// Set switches the fault on for so many calls of those it hits, or until the
// next Set when times is 0. FaultNone switches off whatever is on.
func (f *Faults) Set(kind Fault, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kind, f.left = kind, max(times, 0)
}

// On returns the fault that is on and for how many calls, 0 for no end.
func (f *Faults) On() (kind Fault, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kind == "" {
		return FaultNone, 0
	}
	return f.kind, f.left
}

// A call is a kind of call, as faults see it.
type call int

const (
	check call = iota // all that buys nothing
	order
)

// meet returns the fault that hits this call. A call that meets a registry that
// is down, or whose caller is gone, fails here and without a code.
func (f *Faults) meet(ctx context.Context, c call) (Fault, error) {
	kind := f.take(c)
	if kind == FaultDown {
		return kind, errDown
	}
	if kind == FaultSlow {
		timer := time.NewTimer(cmp.Or(f.Slow, defaultSlow))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return kind, ctx.Err()
}

// take counts the call down.
func (f *Faults) take(c call) Fault {
	if f == nil {
		return FaultNone
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := f.kind
	if kind == "" || kind == FaultNone || c == check && kind != FaultDown && kind != FaultSlow {
		return FaultNone
	}
	if f.left == 1 {
		f.kind = FaultNone
	}
	f.left = max(f.left-1, 0)
	return kind
}

func (f *Faults) late() time.Duration { return cmp.Or(f.Late, defaultLate) }
