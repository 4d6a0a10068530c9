package registrar

import (
	"context"
	"testing"
	"time"
)

// A backend is never asked faster than its limit, however many names wait and however
// many nodes ask; another backend does not wait for it.
func TestPace(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := NewPace([]Backend{{Name: "slow", LookupsPerSecond: 10}, {Name: "free"}}, func() time.Time { return now })
	if got := p.Backends(); len(got) != 2 || got[0] != "free" {
		t.Fatalf("got %v", got)
	}
	if got := p.Take("free", 1000); got != 1000 {
		t.Errorf("without a limit: got %d", got)
	}
	taken := 0
	for range 600 { // a minute of polls
		taken += p.Take("slow", 64)
		now = now.Add(100 * time.Millisecond)
	}
	if taken < 600 || taken > 610 {
		t.Errorf("got %d lookups in a minute, want 10 in a second and a second more at the start", taken)
	}
	now = now.Add(time.Hour)
	if got := p.Take("slow", 64); got != 10 {
		t.Errorf("after an idle hour: got %d, want no more than a second's", got)
	}
	p.Return("slow", 4)
	if got := p.Take("slow", 64); got != 4 {
		t.Errorf("got %d of 4 that were not used", got)
	}
	p.Share(5)
	taken = 0
	for range 100 { // ten seconds
		now = now.Add(100 * time.Millisecond)
		taken += p.Take("slow", 64)
	}
	if taken < 18 || taken > 21 {
		t.Errorf("one of five nodes: got %d in ten seconds, want 20", taken)
	}
	p.Share(0) // nobody has been counted yet
	now = now.Add(time.Second)
	if got := p.Take("slow", 64); got != 10 {
		t.Errorf("got %d", got)
	}
}

// A limit that is longer apart than the burst still lets lookups through.
func TestPaceOfManyNodes(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := NewPace([]Backend{{Name: "slow", LookupsPerSecond: 1}}, func() time.Time { return now })
	p.Share(10)
	taken := 0
	for range 100 {
		taken += p.Take("slow", 64)
		now = now.Add(time.Second)
	}
	if taken < 10 || taken > 11 {
		t.Errorf("got %d lookups in 100 seconds, want 10", taken)
	}
}

func TestPaceWaits(t *testing.T) {
	p := NewPace([]Backend{{Name: "slow", LookupsPerSecond: 200}}, time.Now)
	start := time.Now()
	for range 300 {
		if err := p.Wait(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 400*time.Millisecond { // 200 at once, then 100 in half a second
		t.Errorf("300 lookups took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 300 {
		if err := p.Wait(ctx, "slow"); err != nil {
			return
		}
	}
	t.Error("a cancelled wait went on")
}
