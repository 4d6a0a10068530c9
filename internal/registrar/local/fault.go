package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// A FaultStore keeps which fault is on, and for how many calls more; 0 is for no
// end.
type FaultStore interface {
	Fault(ctx context.Context) (kind string, times int, err error)
	SetFault(ctx context.Context, kind string, times int) error

	// CountFault counts one call down and says whether it did: not when another
	// fault is on by now, or one without an end. The last call switches it off.
	CountFault(ctx context.Context, kind string) (bool, error)
}

// Faults is the switch for faults. With a Store it is shared by all nodes and
// outlives a restart, as a registry in the world would not get well because we
// start again; without one it lives in the process. The zero Faults has none on;
// it is safe for concurrent use.
type Faults struct {
	Slow  time.Duration // how long a slow call waits; three seconds when zero
	Late  time.Duration // how much later, by the registry's clock, a late order is executed; a minute when zero
	Store FaultStore    // nil for the memory of this process

	here inMemory
}

// Set switches the fault on for so many calls of those it hits, or until the
// next Set when times is 0. FaultNone switches off whatever is on. It does not
// hang: the store has its own patience.
func (f *Faults) Set(kind Fault, times int) error {
	return f.store().SetFault(context.Background(), string(kind), max(times, 0))
}

// On returns the fault that is on and for how many calls, 0 for no end.
func (f *Faults) On(ctx context.Context) (kind Fault, times int, err error) {
	on, times, err := f.store().Fault(ctx)
	return Fault(on), times, err
}

func (f *Faults) store() FaultStore {
	if f.Store != nil {
		return f.Store
	}
	return &f.here
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
	kind, err := f.take(ctx, c)
	if err != nil {
		return kind, err
	}
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

// take counts the call down, also when its caller has left meanwhile. Whoever
// finds that others were faster looks again.
func (f *Faults) take(ctx context.Context, c call) (Fault, error) {
	if f == nil {
		return FaultNone, nil
	}
	ctx = context.WithoutCancel(ctx) // the store has its own patience
	for {
		kind, times, err := f.On(ctx)
		switch {
		case err != nil:
			return FaultNone, fmt.Errorf("look for faults: %w", err)
		case kind == FaultNone, c == check && kind != FaultDown && kind != FaultSlow:
			return FaultNone, nil
		case times == 0:
			return kind, nil
		}
		counted, err := f.store().CountFault(ctx, string(kind))
		if err != nil {
			return FaultNone, fmt.Errorf("count a fault: %w", err)
		}
		if counted {
			return kind, nil
		}
	}
}

func (f *Faults) late() time.Duration { return cmp.Or(f.Late, defaultLate) }

// inMemory is a FaultStore in the process.
type inMemory struct {
	mu    sync.Mutex
	kind  string // guarded by mu, as times
	times int
}

func (m *inMemory) Fault(context.Context) (string, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.kind, string(FaultNone)), m.times, nil
}

func (m *inMemory) SetFault(_ context.Context, kind string, times int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kind, m.times = kind, times
	return nil
}

func (m *inMemory) CountFault(_ context.Context, kind string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kind != kind || m.times == 0 {
		return false, nil
	}
	if m.times--; m.times == 0 {
		m.kind = string(FaultNone)
	}
	return true, nil
}
