package chain

import (
	"errors"
	"fmt"
	"time"
)

// A Head is the newest block of the chain.
type Head struct {
	Number uint64
	Time   time.Time
}

// The rate at which a chain may grow at most: a block far above it was never made, and
// what follows from its number would be stored, such as how far the chain was read.
const (
	maxSpeed = 100       // times as fast as the network says
	maxBurst = 1000      // blocks more
	maxAhead = time.Hour // that the clock of an endpoint may be ahead of ours
)

// checkPlausible fails for a block that is above what can have been made, with that time between
// two blocks, since an earlier block of the chain.
func checkPlausible(b block, since Head, blockTime time.Duration, now time.Time) error {
	at := time.Unix(int64(b.Time), 0)
	if latest := now.Add(maxAhead); at.After(latest) {
		at = latest
	}
	most := since.Number + maxBurst
	if passed := at.Sub(since.Time); passed > 0 {
		most += maxSpeed * uint64(passed/blockTime)
	}
	if uint64(b.Number) > most {
		return fmt.Errorf("it has block %d of %s, which is not plausible after block %d of %s", b.Number, at.UTC().Format(time.RFC3339), since.Number, since.Time.UTC().Format(time.RFC3339))
	}
	return nil
}

// checkPlausible compares a block with the newest one that was read, or else with the first.
func (p *endpoints) checkPlausible(b block) error {
	blockTime := time.Duration(p.blockTime.Load())
	since := p.head.Load()
	if since == nil {
		since = p.first()
	}
	if blockTime == 0 || since == nil {
		return nil
	}
	return checkPlausible(b, *since, blockTime, time.Now())
}

// first returns the first block of the chain, or nil before an endpoint was verified.
func (p *endpoints) first() *Head {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chain == nil {
		return nil
	}
	return &Head{Time: p.began}
}

// maxLag is how much older the newest block of an endpoint may be than one that another
// endpoint had before.
const maxLag = time.Minute

// errBehind is the error of an endpoint that does not follow the chain any more: it shows
// nothing of what has happened since.
var errBehind = errors.New("its newest block is more than a minute older than that of another endpoint")

// observeNewest stores the time of the newest block of an endpoint, or fails with errBehind. A
// time in the future, which would make all others late, counts as now.
func (p *endpoints) observeNewest(e *endpoint, at time.Time) error {
	if now := time.Now(); at.After(now) {
		at = now
	}
	for _, o := range p.all {
		if o != e && o.newestUsed().Sub(at) > maxLag {
			return errBehind
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.newest = at
	return nil
}

// newestUsed returns the time of the newest block of an endpoint, and zero while it is not used.
func (e *endpoint) newestUsed() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		return time.Time{}
	}
	return e.newest
}
