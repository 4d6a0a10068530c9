package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"deed.example/deed/internal/nameserver/peer"
)

const (
	fleetZones  = 10 // changed in rotation, so that none waits for its last NOTIFY
	otherZones  = 200
	fleetEdits  = 300
	busyEdits   = 1000
	otherRate   = 50 // changes of other zones in a second, if the machine can
	fleetSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	fleetWait   = 30 * time.Second // for one change
)

// secondaryRows measures the time from a paid change until a Knot secondary serves
// it: the transaction with the signatures, the NOTIFY and the zone transfer.
// Without Knot there is no row.
func secondaryRows() (rows []row, err error) {
	_, db, shut, err := openDatabase()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	f := &fleet{db: db, zones: jobZones(db)}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.sell(); err != nil {
		return nil, err
	}
	if err := f.start(); errors.Is(err, peer.ErrMissing) {
		fmt.Fprintln(os.Stderr, "bench: no row for a change → secondary:", err)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	alone, err := f.measure(fleetEdits)
	if err != nil {
		return nil, err
	}
	busy, others, err := f.measureBusy(busyEdits)
	if err != nil {
		return nil, err
	}
	fmt.Printf("change → secondary: %s\n", alone)
	fmt.Printf("change → secondary while %d other zones change %.0f times a second: %s; the slowest change %s\n\n", otherZones, others, busy, inMS(busy.changes, 100))
	return []row{
		{what: "change → answer of a Knot we feed, one at a time, p50", against: "its transaction alone, signed, on SQLite",
			ours: 1 / percentile(alone.changes, 50).Seconds(), limit: 1 / percentile(alone.commits, 50).Seconds()},
		{what: "the same while other zones change, p99 of 1,000", against: "100 ms", aim: 1,
			ours: 1 / percentile(busy.changes, 99).Seconds(), limit: 10},
	}, nil
}

// fleetTimes are the durations of edits.
type fleetTimes struct{ commits, changes, trips []time.Duration }

func (t fleetTimes) String() string {
	return fmt.Sprintf("p50 %s, p99 %s of %d edits of %d signed zones; the transaction alone p50 %s, p99 %s; a bare question to the secondary p50 %s, p99 %s",
		inMS(t.changes, 50), inMS(t.changes, 99), len(t.changes), fleetZones, inMS(t.commits, 50), inMS(t.commits, 99), inMS(t.trips, 50), inMS(t.trips, 99))
}

// measure makes edits one after the other.
func (f *fleet) measure(edits int) (t fleetTimes, err error) {
	for i := range edits {
		commit, change, err := f.edit(f.name(i))
		if err != nil {
			return t, err
		}
		began := time.Now()
		if _, err := f.serial(f.name(i)); err != nil {
			return t, err
		}
		t.commits, t.changes, t.trips = append(t.commits, commit), append(t.changes, change), append(t.trips, time.Since(began))
	}
	return t, nil
}

// measureBusy does the same while other zones change, and returns how often they did in a
// second.
func (f *fleet) measureBusy(edits int) (t fleetTimes, others float64, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	changed, began := 0, time.Now()
	go func() {
		ticker := time.NewTicker(time.Second / otherRate)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				ended <- nil
				return
			case <-ticker.C:
			}
			if err := f.change(f.other(changed)); err != nil {
				ended <- err
				return
			}
			changed++
		}
	}()
	t, err = f.measure(edits)
	cancel()
	err = errors.Join(err, <-ended)
	return t, float64(changed) / time.Since(began).Seconds(), err
}

func percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[min(len(d)*p/100, len(d)-1)]
}

func inMS(d []time.Duration, p int) string {
	return fmt.Sprintf("%.2f ms", float64(percentile(d, p).Microseconds())/1000)
}
