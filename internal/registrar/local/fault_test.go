package local_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func TestParseFault(t *testing.T) {
	if f, err := local.ParseFault("lost_reply"); err != nil || f != local.FaultLostReply {
		t.Errorf("got %s, %v", f, err)
	}
	for _, s := range []string{"", "Down", "fire"} {
		if _, err := local.ParseFault(s); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %v", s, err)
		}
	}
}

// reserved is a name whose check does not read the database, so that these tests do
// not need one.
const reserved deed.Name = "nic.dev"

// set activates a fault.
func set(t *testing.T, r *local.Registry, kind local.Fault, times int) {
	t.Helper()
	if err := r.Faults.Set(kind, times); err != nil {
		t.Fatal(err)
	}
}

// A fault affects exactly as many calls of concurrent callers on two nodes as it was
// set to, in memory and in the database.
func TestFaultsCountDown(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
		countDown(t, r, r)
	})
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		one, _ := open(db)
		two, _ := open(db)
		countDown(t, one, two)
	})
}

func countDown(t *testing.T, nodes ...*local.Registry) {
	t.Helper()
	set(t, nodes[0], local.FaultDown, 10)
	var wg sync.WaitGroup
	var failed atomic.Int64
	for i := range 32 {
		wg.Go(func() {
			if _, err := nodes[i%len(nodes)].Available(t.Context(), reserved); err != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	if kind, times, err := nodes[0].Faults.On(t.Context()); err != nil || failed.Load() != 10 || kind != local.FaultNone || times != 0 {
		t.Errorf("got %d failures and then %s, %v, want 10 and none", failed.Load(), kind, err)
	}
}

func TestFaultWithoutLimit(t *testing.T) {
	r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
	set(t, r, local.FaultDown, 0)
	for range 3 {
		if _, err := r.Available(t.Context(), reserved); err == nil {
			t.Error("a registry that is down replied")
		}
	}
	set(t, r, local.FaultNone, 0)
	if _, err := r.Available(t.Context(), reserved); err != nil {
		t.Error(err)
	}
	r.Faults = nil
	if _, err := r.Available(t.Context(), reserved); err != nil {
		t.Errorf("without Faults: %v", err)
	}
}

// A slow registry responds after its delay, by a synthetic clock.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
		set(t, r, local.FaultSlow, 1)
		began := time.Now()
		a, err := r.Available(t.Context(), reserved)
		if took := time.Since(began); err != nil || a.Reason != "reserved" || took != 3*time.Second {
			t.Errorf("got %+v, %v after %s, want its answer after 3s", a, err, took)
		}
	})
}

// A canceled call of a slow registry returns immediately.
func TestSlowCallCanceled(t *testing.T) {
	r := &local.Registry{Now: time.Now, Faults: &local.Faults{Slow: time.Hour}}
	set(t, r, local.FaultSlow, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := r.Available(ctx, reserved); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// The error of an unknown fault lists those that there are.
func TestUnknownFault(t *testing.T) {
	const want = "VALIDATION_ERROR: registrar: must be one of none, down, slow, refuse, lost_reply, late, parked, taken, wrong_account"
	if _, err := local.ParseFault("up"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
