package app

import "testing"

func TestGarbagePercent(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		what            string
		allocated, live uint64
		want            int
	}{
		{"nothing to do", 0, 20 * mega, 100},
		{"less than collects once a second", 19 * mega, 20 * mega, 100},
		{"busy: one second of it", 80 * mega, 20 * mega, 400},
		{"very busy: no more than the limit", 1000 * mega, 20 * mega, 640},
		{"much live memory: as usual", 1000 * mega, 500 * mega, 100},
		{"no collection yet", 10 * mega, 0, 1000},
	} {
		if got := garbagePercent(c.allocated, c.live); got != c.want {
			t.Errorf("%s: garbagePercent(%d, %d) = %d, want %d", c.what, c.allocated, c.live, got, c.want)
		}
	}
}
