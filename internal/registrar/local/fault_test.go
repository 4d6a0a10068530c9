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

// reserved is a name that is answered without a look into the database, which
// these tests then need not have.
const reserved deed.Name = "nic.dev"

// Many callers at once meet a fault exactly as often as it was set.
func TestFaultsCountDown(t *testing.T) {
	r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
	r.Faults.Set(local.FaultDown, 10)
	var wg sync.WaitGroup
	var failed atomic.Int64
	for range 32 {
		wg.Go(func() {
			if _, err := r.Available(t.Context(), reserved); err != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	if kind, times := r.Faults.On(); failed.Load() != 10 || kind != local.FaultNone || times != 0 {
		t.Errorf("got %d failures and then %s, want 10 and none", failed.Load(), kind)
	}
}

func TestFaultStaysUntilSwitchedOff(t *testing.T) {
	r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
	r.Faults.Set(local.FaultDown, 0)
	for range 3 {
		if _, err := r.Available(t.Context(), reserved); err == nil {
			t.Error("a registry that is down replied")
		}
	}
	r.Faults.Set(local.FaultNone, 0)
	if _, err := r.Available(t.Context(), reserved); err != nil {
		t.Error(err)
	}
	r.Faults = nil
	if _, err := r.Available(t.Context(), reserved); err != nil {
		t.Errorf("without a switch: %v", err)
	}
}

// A slow registry answers in the end. The clock of this test is not the world's.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &local.Registry{Now: time.Now, Faults: &local.Faults{}}
		r.Faults.Set(local.FaultSlow, 1)
		began := time.Now()
		a, err := r.Available(t.Context(), reserved)
		if took := time.Since(began); err != nil || a.Reason != "reserved" || took != 3*time.Second {
			t.Errorf("got %+v, %v after %s, want its answer after 3s", a, err, took)
		}
	})
}

// A caller who leaves a slow registry is not kept waiting.
func TestSlowCallerLeaves(t *testing.T) {
	r := &local.Registry{Now: time.Now, Faults: &local.Faults{Slow: time.Hour}}
	r.Faults.Set(local.FaultSlow, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := r.Available(ctx, reserved); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", a, err)
	}
}
