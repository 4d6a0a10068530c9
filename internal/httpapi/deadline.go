package httpapi

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A readDeadline sets the read deadline of a connection only when something is read, and
// not while an earlier one is set there: when that has passed, it sets the later one.
// net/http changes this deadline about six times for each request, and each change below
// is one of a timer of the runtime. The zero time means none.
type readDeadline struct {
	below func(time.Time) error // sets that of the connection below

	mu     sync.Mutex
	wanted time.Time
	set    time.Time // below; never after wanted while something is read
	active int       // reads that have begun and not ended
}

// want stores the deadline t, and sets it below at once if a read must notice it.
func (d *readDeadline) want(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.active > 0 && earlier(t, d.set) {
		return d.setBelow()
	}
	return nil
}

// begin precedes a read, which end follows. It returns an error, and nothing must be read,
// if the deadline has passed.
func (d *readDeadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if passed(d.wanted, now) {
		return os.ErrDeadlineExceeded
	}
	if earlier(d.wanted, d.set) || passed(d.set, now) {
		if err := d.setBelow(); err != nil {
			return err
		}
	}
	d.active++
	return nil
}

// end reports whether a read that ended with err must be repeated, because a deadline has
// passed that is no longer wanted.
func (d *readDeadline) end(err error) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active--
	return errors.Is(err, os.ErrDeadlineExceeded) && !passed(d.wanted, time.Now())
}

// setBelow sets the wanted deadline below. The caller holds mu.
func (d *readDeadline) setBelow() error {
	d.set = d.wanted
	return d.below(d.wanted)
}

// passed reports whether there is a deadline t, and it is not after now.
func passed(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// earlier reports whether the deadline a ends before b.
func earlier(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }
