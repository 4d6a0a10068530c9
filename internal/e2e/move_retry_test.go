package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
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

// openReturn returns a mover whose name was served elsewhere with a DS, and is due to come
// back: the DS was removed when the return began, and has left all caches.
func openReturn(t *testing.T, s *env) *mover {
	t.Helper()
	m := openMover(t, s)
	m.delegate(away)
	m.due(25 * time.Hour)
	m.put("ds", `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"`+strings.Repeat("CD", 32)+`"}],"force":true}`).expect(t, 200, "")
	m.is("back, with a DS", m.delegate(home), "ns1.example.net", "withdrawing", 0)
	m.clock.advance(25 * time.Hour)
	return m
}

// A silentManager does not change name servers, and does not answer.
type silentManager struct{ registrar.Manager }

func (silentManager) SetNameservers(context.Context, deed.Name, []string) error {
	return errors.New("the registry does not answer")
}

// A name that comes back when its registry does not answer comes back when it does.
func TestReturnThatFailsIsTriedAgain(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openReturn(t, s)
		s.api.Registrations.Manager = silentManager{s.registry}
		if err := s.api.Registrations.AdvanceMove(t.Context(), "first.com"); err == nil {
			t.Fatal("it was executed")
		}
		m.is("without an answer", m.domain(t, "first.com"), "ns1.example.net", "withdrawing", 0)
		s.api.Registrations.Manager = s.registry
		m.is("back", m.due(2*time.Minute), "ns1.deed.example", "settling", 0)
		m.is("settled", m.due(49*time.Hour), "ns1.deed.example", "", 0)
	})
}

// A lossyServers changes name servers, and its answers are lost.
type lossyServers struct{ registrar.Manager }

func (m lossyServers) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	return errors.Join(m.Manager.SetNameservers(ctx, name, hosts), errors.New("executed, and the answer was lost"))
}

// A name that comes back, and whose registry has changed the servers without an answer, is
// compared with the registry before its move goes on. Its DS waits for the caches all the
// same: resolvers may still ask the old servers, which have other keys.
func TestReturnWithoutAnAnswerWaitsForCaches(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openReturn(t, s)
		s.api.Registrations.Manager = lossyServers{s.registry}
		if err := s.api.Registrations.AdvanceMove(t.Context(), "first.com"); err == nil {
			t.Fatal("the answer was not lost")
		}
		s.api.Registrations.Manager = s.registry
		s.pass(t, time.Minute)
		m.is("compared", m.domain(t, "first.com"), "ns1.deed.example", "withdrawing", 0)
		m.is("asked again", m.delegate(home), "ns1.deed.example", "withdrawing", 0)
		m.is("back", m.due(time.Minute), "ns1.deed.example", "settling", 0)
		m.is("settled", m.due(49*time.Hour), "ns1.deed.example", "", 0)
	})
}

// An owner who chooses others while the registry brings a name back gets them: the next step
// of the return does not take the place of the newer move.
func TestOwnerChoosesOthersDuringAReturn(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openReturn(t, s)
		s.api.Registrations.Manager = &interruptedManager{Manager: s.registry, before: func() {
			if d := m.delegate(`{"nameservers":["ns3.example.net","ns4.example.net"]}`); d.Delegation == nil || d.Delegation.Nameservers[0] != "ns3.example.net" {
				t.Errorf("got %+v", d.Delegation)
			}
		}}
		if err := s.api.Registrations.AdvanceMove(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		m.is("not yet", m.due(0), "ns1.deed.example", "withdrawing", 0) // the call of the registry may not have ended
		m.is("moved", m.due(time.Minute), "ns3.example.net", "", 0)
	})
}

// A refusingManager refuses to change name servers.
type refusingManager struct {
	registrar.Manager
	asked int
}

func (m *refusingManager) SetNameservers(context.Context, deed.Name, []string) error {
	m.asked++
	return deed.Invalid("domain", "first.com is locked or busy at the registry")
}

// refusedMove is a signed name whose registry refuses to change its servers at the end of a
// move.
func refusedMove(t *testing.T, s *env, to string) (*mover, *refusingManager) {
	t.Helper()
	m := openMover(t, s)
	registry := &refusingManager{Manager: s.registry}
	if to == home {
		m.delegate(away)
		m.due(25 * time.Hour)
		m.put("ds", `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"`+strings.Repeat("cd", 32)+`"}],"force":true}`).expect(t, 200, "")
	}
	m.delegate(to)
	s.api.Registrations.Manager = registry
	s.clock.advance(25 * time.Hour)
	return m, registry
}

// advanceRefused advances the moves for so long.
func (m *mover) advanceRefused(long time.Duration) {
	m.t.Helper()
	for end := m.clock.Now().Add(long); m.clock.Now().Before(end); m.clock.advance(time.Minute) {
		names, err := m.api.Registrations.Moves.DueMoves(m.t.Context(), 10)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, name := range names {
			if err := m.api.Registrations.AdvanceMove(m.t.Context(), name); deed.CodeOf(err) != deed.CodeValidation {
				m.t.Fatal(err)
			}
		}
	}
}

// A registry that refuses a move is asked ever less often, and the owner is told.
func TestRefusedMoveIsTriedLessOften(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m, registry := refusedMove(t, s, away)
		m.advanceRefused(24 * time.Hour)
		if registry.asked < 5 || registry.asked > 15 {
			t.Errorf("the registry was asked %d times in a day", registry.asked)
		}
		d := m.domain(t, "first.com")
		m.is("refused", d, "ns1.deed.example", "withdrawing", 0)
		told := 0
		for _, e := range d.Events {
			if e.Type == "delegation_refused" {
				told++
			}
		}
		if d.Delegation.RefusedAt == nil || told != 1 || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "refuses") {
			t.Errorf("got %+v, %d events, %q", d.Delegation, told, d.Warnings)
		}
		s.api.Registrations.Manager = s.registry
		m.is("moved", m.due(24*time.Hour), "ns1.example.net", "", 0)
		s.audit(t)
	})
}

// The owner cancels a move that the registry refuses, although the registry changes nothing:
// the DS that was removed for it is set again.
func TestRefusedMoveIsCanceled(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m, _ := refusedMove(t, s, away)
		m.advanceRefused(time.Hour)
		m.is("canceled", m.delegate(home), "ns1.deed.example", "", 0)
		s.runLifecycle(t)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) != 1 {
			t.Errorf("the DS is due again: got %v, %v", due, err)
		}
		s.audit(t)
	})
}

// So does the owner of a name that was coming back.
func TestRefusedReturnIsCanceled(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m, _ := refusedMove(t, s, home)
		m.advanceRefused(time.Hour)
		m.is("canceled", m.delegate(away), "ns1.example.net", "", 1)
		s.audit(t)
	})
}

// If the registry refuses other servers that the owner forces on a name whose move waits, the
// move goes on.
func TestRefusedForceKeepsTheMove(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		m.delegate(away)
		s.api.Registrations.Manager = &refusingManager{Manager: s.registry}
		m.put("nameservers", `{"nameservers":["ns3.example.net","ns4.example.net"],"force":true}`).expect(t, 400, deed.CodeValidation)
		m.is("refused", m.domain(t, "first.com"), "ns1.deed.example", "withdrawing", 0)
		s.api.Registrations.Manager = s.registry
		m.is("moved", m.due(25*time.Hour), "ns1.example.net", "", 0)
		s.audit(t)
	})
}

// The owner chooses others than those that the registry refuses.
func TestRefusedMoveIsChanged(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m, _ := refusedMove(t, s, away)
		m.advanceRefused(time.Hour)
		s.api.Registrations.Manager = s.registry
		if d := m.delegate(`{"nameservers":["ns3.example.net","ns4.example.net"]}`); d.Delegation == nil || d.Delegation.RefusedAt != nil {
			t.Errorf("got %+v", d.Delegation)
		}
		m.is("moved", m.due(time.Minute), "ns3.example.net", "", 0)
		s.audit(t)
	})
}

// A fixedDSManager refuses to remove a DS.
type fixedDSManager struct{ registrar.Manager }

func (fixedDSManager) SetDS(context.Context, deed.Name, []dnssec.DS) error {
	return deed.Invalid("domain", "first.com is locked or busy at the registry")
}

// A move whose first step the registry refuses is not begun.
func TestRefusedMoveIsNotBegun(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		s.api.Registrations.Manager = fixedDSManager{s.registry}
		m.put("nameservers", away).expect(t, 400, deed.CodeValidation)
		m.is("refused", m.domain(t, "first.com"), "ns1.deed.example", "", 1)
	})
}

// An owner who cancels a return, and gives the servers other addresses by the same call, gets
// the foreign DS back.
func TestNewAddressesCancelAReturn(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openMover(t, s)
		below := func(address string) string {
			return `{"nameservers":[{"host":"ns1.first.com","addresses":["` + address + `"]},"ns2.example.net"],"force":` + fmt.Sprint(address == "192.0.2.1") + `}`
		}
		m.delegate(below("192.0.2.1"))
		m.put("ds", `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"`+strings.Repeat("cd", 32)+`"}],"force":true}`).expect(t, 200, "")
		m.is("withdrawn", m.delegate(home), "ns1.first.com", "withdrawing", 0)
		d := m.delegate(below("192.0.2.2"))
		m.is("canceled", d, "ns1.first.com", "", 1)
		if len(d.Glue) != 1 || fmt.Sprint(d.Glue[0].Addresses) != "[192.0.2.2]" {
			t.Errorf("got %+v", d.Glue)
		}
		m.is("later", m.due(100*time.Hour), "ns1.first.com", "", 1)
	})
}
