package primary_test

import (
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed/internal/primary"
)

// serials returns the serials of the notices that have arrived, each once: a notice may
// arrive twice on a slow machine.
func (e *notifyReceiver) serials() (all []uint32) {
	for len(e.notices) > 0 {
		all = append(all, (<-e.notices).serial)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A secondary that stays behind although it has confirmed a notice is notified again after
// a minute, and then once a minute; others are not.
func TestRemind(t *testing.T) {
	behind, others := listen(t, confirm, false), listen(t, confirm, false)
	began, passed := time.Now(), atomic.Int64{}
	n := &primary.Notifier{
		Secondaries: []primary.Secondary{{Name: "behind", Addr: behind.addr}, {Name: "others", Addr: others.addr}},
		Now:         func() time.Time { return began.Add(time.Duration(passed.Load())) }, Log: slog.New(slog.DiscardHandler),
	}
	n.Start()
	t.Cleanup(func() { closeNow(n) })
	remind := func(serial uint32) { // another one each time, to tell the notices apart
		t.Helper()
		if err := n.Remind(soaOf("example.com", serial), []string{"behind", "unknown"}); err != nil {
			t.Fatal(err)
		}
		waitConfirmed(t, n)
	}
	publishSerial(t, n, "example.com", 1)
	waitConfirmed(t, n)
	for i := range uint32(12) { // checks every five seconds
		remind(10 + i)
		passed.Add(int64(5 * time.Second))
	}
	remind(30) // after a minute
	remind(31)
	passed.Add(int64(time.Minute))
	remind(32) // after two
	passed.Add(int64(30 * time.Minute))
	remind(33) // it was checked seldom
	publishSerial(t, n, "example.com", 40)
	passed.Add(int64(time.Minute))
	remind(41) // behind with a new serial, and then long in sync
	passed.Add(int64(time.Hour))
	remind(42)
	if got, want := behind.serials(), []uint32{1, 30, 32, 33, 40}; !slices.Equal(got, want) {
		t.Errorf("got the serials %v, want %v", got, want)
	}
	if got, want := others.serials(), []uint32{1, 40}; !slices.Equal(got, want) {
		t.Errorf("others: got the serials %v, want %v", got, want)
	}
	closeNow(n)
	if err := n.Remind(soaOf("example.com", 43), []string{"behind"}); err == nil {
		t.Error("a closed notifier was asked to remind")
	}
}
