package zone_test

import (
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/zone"
)

// A server without the zone holds the DS back for an hour, one with an old copy as
// long as it has it.
func TestDSReady(t *testing.T) {
	good, old, gone := zone.ServerCopy{Server: "good", InSync: true}, zone.ServerCopy{Server: "old"}, zone.ServerCopy{Server: "gone", Absent: true}
	for _, c := range []struct {
		name    string
		servers []zone.ServerCopy
		since   time.Duration
		ready   bool
		without []string
	}{
		{"all in sync", []zone.ServerCopy{good, good}, 0, true, nil},
		{"an old copy", []zone.ServerCopy{good, old}, 1000 * time.Hour, false, nil},
		{"one without the zone, at once", []zone.ServerCopy{good, gone}, time.Hour - time.Second, false, nil},
		{"one without the zone, after an hour", []zone.ServerCopy{good, gone}, time.Hour, true, []string{"gone"}},
		{"one of each", []zone.ServerCopy{good, gone, old}, time.Hour, false, nil},
		{"none has it", []zone.ServerCopy{gone, gone}, time.Hour, false, []string{"gone", "gone"}},
		{"no servers", nil, time.Hour, false, nil},
	} {
		ready, without := zone.DSReady(c.servers, c.since)
		if ready != c.ready || !slices.Equal(without, c.without) {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, ready, without, c.ready, c.without)
		}
	}
}
