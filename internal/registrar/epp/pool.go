package epp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A pool has the sessions of a backend. Its clock is the process's own: the
// registry's clock of a sandbox may jump.
type pool struct {
	dial   func(ctx context.Context) (*session, error)
	limits Limits

	mu       sync.Mutex
	idle     []*session // the most recently used is the last
	open     int        // sessions in use, idle or being opened
	limit    int        // of open; lower than limits.Sessions after a refusal
	raise    time.Time  // when limit is raised again
	failures int        // consecutive failures to open a session
	retry    time.Time  // no session is opened before
	last     error      // of those failures
	waiters  waiters    // of those who wait for a session
	closed   bool
	services services // of the last session
}

// sessionLimitTime is how long the pool uses fewer sessions after the registry has
// refused one more.
const sessionLimitTime = time.Minute

// loginPause is the time until the next attempt after a password was refused.
const loginPause = 10 * time.Minute

var errClosed = errors.New("the backend is closed")

func newPool(limits Limits, dial func(ctx context.Context) (*session, error)) *pool {
	return &pool{dial: dial, limits: limits, limit: limits.Sessions}
}

// do runs f with a session, alone. If f fails, the session is closed.
func (p *pool) do(ctx context.Context, as priority, f func(ctx context.Context, s *session) error) error {
	s, err := p.acquire(ctx, as)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, p.limits.Timeout)
	defer cancel()
	err = f(call, s)
	p.release(s, as, err == nil)
	return err
}

// acquire returns a session: an idle one, or a new one if there may be one more. It
// waits for those in use, but not for a registry that cannot be reached.
func (p *pool) acquire(ctx context.Context, as priority) (*session, error) {
	w := &waiter{priority: as, wake: make(chan struct{}, 1)}
	p.enqueue(w, false)
	defer p.leave(w)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, served, err := p.next(time.Now(), w)
		switch {
		case s != nil || err != nil:
			return s, err
		case served:
			if s, err = p.connect(ctx, as); s != nil || err != nil {
				return s, err
			}
			p.enqueue(w, true)
			continue // the registry refused one more: wait for one of the others
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p *pool) enqueue(w *waiter, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters.add(w, first)
}

// leave removes a waiter that was served or has given up, and wakes the next one.
func (p *pool) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters.remove(w)
	p.notify()
}

// next returns an idle session, or that a place for a new one is taken, or neither:
// then w has to wait.
func (p *pool) next(now time.Time, w *waiter) (s *session, served bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.After(p.raise) {
		p.limit = p.limits.Sessions
	}
	p.dropEnded()
	switch {
	case p.closed:
		return nil, false, errClosed
	case now.Before(p.retry) && p.open == 0:
		return nil, false, fmt.Errorf("no attempt to connect before %s: %w", p.retry.UTC().Format(time.RFC3339), p.last)
	case p.waiters.next(p.limit) != w:
		return nil, false, nil
	case len(p.idle) > 0:
		s = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
	case p.open >= p.limit, now.Before(p.retry):
		return nil, false, nil
	default:
		p.open++
	}
	p.waiters.serve(w)
	p.notify() // there may be a session for the next one, too
	return s, true, nil
}

// dropEnded forgets the most recently used idle sessions that the registry has closed.
// The caller holds mu.
func (p *pool) dropEnded() {
	for n := len(p.idle); n > 0 && !p.idle[n-1].usable(); n-- {
		p.idle[n-1].close()
		p.idle = p.idle[:n-1]
		p.open--
	}
}

// connect opens a session. It returns neither a session nor an error when the
// registry allows no more than there are.
func (p *pool) connect(ctx context.Context, as priority) (*session, error) {
	s, err := p.dial(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && p.closed {
		s.close()
		err = errClosed
	}
	if err == nil {
		p.failures, p.services = 0, s.services
		return s, nil
	}
	p.open--
	p.waiters.end(as)
	p.notify()
	if limitReached(err) && p.open > 0 {
		p.limit, p.raise = p.open, time.Now().Add(sessionLimitTime)
		return nil, nil
	}
	if ctx.Err() == nil { // otherwise it was the caller who left
		p.raise = time.Time{} // what looked like a limit was none
		p.failures++
		p.retry, p.last = time.Now().Add(p.backoff()), err
		if refusedLogin(err) { // registries lock accounts after some attempts
			p.retry = time.Now().Add(loginPause)
		}
	}
	return nil, err
}

// backoff returns the time until the next attempt to connect: nothing after the first
// failure, then doubling, and never the same for two processes.
func (p *pool) backoff() time.Duration {
	if p.failures < 2 {
		return 0
	}
	wait := p.limits.MinBackoff << min(p.failures-2, 20)
	if wait <= 0 || wait > p.limits.MaxBackoff {
		wait = p.limits.MaxBackoff
	}
	return wait/2 + rand.N(wait/2+1)
}

// release takes a session back from a caller, or closes it.
func (p *pool) release(s *session, as priority, good bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiters.end(as)
	if good && !p.closed && s.usable() {
		s.used = time.Now()
		p.idle = append(p.idle, s)
	} else {
		s.close()
		p.open--
	}
	p.notify()
}

// notify wakes the next of those who wait for a session. The caller holds mu.
func (p *pool) notify() {
	w := p.waiters.next(p.limit)
	if w == nil {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // it is awake, and will look again
	}
}

// maintain sends a hello on sessions that were idle for long, and closes those that
// nobody has needed, until the context ends.
func (p *pool) maintain(ctx context.Context) {
	ticker := time.NewTicker(p.limits.KeepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.keepAlive(ctx)
	}
}

func (p *pool) keepAlive(ctx context.Context) {
	now := time.Now()
	p.mu.Lock()
	var keep, end, rest []*session
	for _, s := range p.idle {
		if now.Sub(s.used) < p.limits.IdleTime {
			keep = append(keep, s)
		} else {
			end = append(end, s)
		}
	}
	p.idle = nil
	p.mu.Unlock()
	for _, s := range keep {
		call, cancel := context.WithTimeout(ctx, p.limits.Timeout)
		if s.usable() && s.hello(call) == nil {
			rest = append(rest, s)
		} else {
			p.release(s, normal, false)
		}
		cancel()
	}
	for _, s := range end {
		s.logout()
		p.release(s, normal, false)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		for _, s := range rest {
			s.close()
		}
		return
	}
	p.idle = append(rest, p.idle...)
	p.notify()
}

// close closes the idle sessions; those in use are closed when they come back.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.closed, p.idle = true, nil
	p.notify()
	p.mu.Unlock()
	for _, s := range idle {
		s.logout()
		s.close()
	}
}
