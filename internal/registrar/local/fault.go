package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
)

// A Fault is a failure that the registry can simulate.
type Fault string

// The faults. Down and slow affect every call, the others only orders.
const (
	FaultNone         Fault = "none"
	FaultDown         Fault = "down"          // nothing is done, and there is no reply
	FaultSlow         Fault = "slow"          // everything is done after a delay
	FaultRefuse       Fault = "refuse"        // the order is refused permanently
	FaultLostReply    Fault = "lost_reply"    // the order is executed, but the reply is lost
	FaultLate         Fault = "late"          // the reply is lost, and the order is executed later
	FaultParked       Fault = "parked"        // the reply is lost, and the order waits for manual action
	FaultTaken        Fault = "taken"         // the order is refused: the name is taken
	FaultWrongAccount Fault = "wrong_account" // the name is registered to another account
)

var faults = []Fault{FaultNone, FaultDown, FaultSlow, FaultRefuse, FaultLostReply, FaultLate, FaultParked, FaultTaken, FaultWrongAccount}

// ParseFault parses the name of a fault. It fails with CodeValidation.
func ParseFault(s string) (Fault, error) {
	if f := Fault(s); slices.Contains(faults, f) {
		return f, nil
	}
	names := make([]string, len(faults))
	for i, f := range faults {
		names[i] = string(f)
	}
	return "", deed.Invalid("registrar", "must be one of %s", strings.Join(names, ", "))
}

// Default delay of a slow call, and default time until a late order is executed.
const (
	defaultSlow = 3 * time.Second
	defaultLate = time.Minute
)

// errDown is the error of every call while the registry is down.
var errDown = errors.New("the registry is down")

// A FaultStore stores the active fault, and the number of remaining calls; 0 is
// unlimited.
type FaultStore interface {
	Fault(ctx context.Context) (kind string, times int, err error)
	SetFault(ctx context.Context, kind string, times int) error

	// CountFault counts down one call and reports whether it did: it does not when
	// another fault is active by now, or one without a limit. The last call
	// disables the fault.
	CountFault(ctx context.Context, kind string) (bool, error)
}

// Faults controls the simulated faults. With a Store they are shared by all nodes
// and survive a restart, as the failure of a real registry would; without one they
// are in memory. The zero Faults has none active. It is safe for concurrent use.
type Faults struct {
	Slow  time.Duration // delay of a slow call; three seconds when zero
	Late  time.Duration // delay of a late order, by the registry's clock; a minute when zero
	Store FaultStore    // nil to keep faults in memory

	here inMemory
}

// Set activates the fault for this many affected calls, or until the next Set when
// times is 0. FaultNone disables the active fault. It does not block for long: the
// store has its own timeout.
func (f *Faults) Set(kind Fault, times int) error {
	return f.store().SetFault(context.Background(), string(kind), max(times, 0))
}

// On returns the active fault and its number of remaining calls, 0 for unlimited.
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

// A call is the kind of a call, which decides the faults that affect it.
type call int

const (
	check call = iota // all calls that order nothing
	order
)

// meet returns the fault that affects this call. It fails without a code when the
// registry is down or the caller's context is done.
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

// take counts down the call, even if its caller has left in the meantime. If
// another call was counted first, it tries again.
func (f *Faults) take(ctx context.Context, c call) (Fault, error) {
	if f == nil {
		return FaultNone, nil
	}
	ctx = context.WithoutCancel(ctx) // the store has its own timeout
	for {
		kind, times, err := f.On(ctx)
		switch {
		case err != nil:
			return FaultNone, fmt.Errorf("read the fault: %w", err)
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

// inMemory is a FaultStore in memory.
type inMemory struct {
	mu    sync.Mutex
	kind  string // kind and times are guarded by mu
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
