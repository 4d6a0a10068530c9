package e2e_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// A failingManager calls a function when it is asked for a name, and fails.
type failingManager struct {
	registrar.Manager
	ask func()
}

func (m failingManager) Holding(context.Context, deed.Name) (lifecycle.Holding, error) {
	m.ask()
	return lifecycle.Holding{}, errors.New("the registry does not answer")
}

// An expiringContext is one whose deadline passes when done is closed.
type expiringContext struct {
	context.Context
	done chan struct{}
}

func (c expiringContext) Done() <-chan struct{} { return c.done }

func (c expiringContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A move that the registry does not execute is tried again later, so that it does not
// delay others; a node that stops does not delay it.
func TestFailedMoveIsTriedLater(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(away)
		m.clock.advance(26 * time.Hour)
		moves := s.api.Registrations.Moves
		due := func(what string, want int) {
			t.Helper()
			if names, err := moves.DueMoves(t.Context(), 10); err != nil || len(names) != want {
				t.Fatalf("%s: got %v, %v, want %d", what, names, err, want)
			}
		}
		stopped, stop := context.WithCancel(t.Context())
		expiring := expiringContext{t.Context(), make(chan struct{})}
		for _, c := range []struct {
			what string
			ctx  context.Context
			ask  func() // what happens when the registry is asked
			due  int
		}{
			{"the node stops", stopped, stop, 1},
			{"the registry fails", t.Context(), func() {}, 0},
			{"the registry takes all the time", expiring, func() { close(expiring.done) }, 0},
		} {
			due("before: "+c.what, 1)
			s.api.Registrations.Manager = failingManager{s.registry, c.ask}
			if err := s.api.Registrations.AdvanceMove(c.ctx, "first.com"); err == nil {
				t.Fatal("it was executed")
			}
			due(c.what, c.due)
			m.clock.advance(2 * time.Minute)
		}
		s.api.Registrations.Manager = s.registry
		m.is("moved", m.due(0), "ns1.example.net", "", 0)
	})
}
