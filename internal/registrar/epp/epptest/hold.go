package epptest

import (
	"slices"

	"deed.example/deed"
)

// A heldChange is a renewal or an update that waits for a decision.
type heldChange struct {
	status string // of the name meanwhile
	apply  func() answer
}

// HoldChanges makes the next renewal or update of a name wait for a decision.
func (s *Server) HoldChanges(name deed.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[name] = &heldChange{}
}

// DecideChange makes the change that waits, or drops it. It reports whether there was one, and
// whether it was made if it was approved.
func (s *Server) DecideChange(name deed.Name, approve bool) bool {
	s.mu.Lock()
	change := s.held[name]
	delete(s.held, name)
	delete(s.extra, name)
	s.mu.Unlock()
	if change == nil || change.apply == nil {
		return false
	}
	return !approve || change.apply().code == 1000
}

// SetKey gives the registry a key of a name, which it has instead of a DS; "" for none.
func (s *Server) SetKey(name deed.Name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[name] = key
}

func (s *Server) keyOf(name deed.Name) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[name]
}

// hold returns the answer to a change of a name that waits for a decision, and whether it does.
func (s *Server) hold(text, status string, apply func() answer) (answer, bool) {
	name, _ := parse(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	change := s.held[name]
	switch {
	case change == nil:
		return answer{}, false
	case change.apply != nil:
		return answer{code: 2304, reason: change.status}, true
	}
	change.status, change.apply = status, apply
	s.extra[name] = append(slices.Clone(s.extra[name]), status)
	return answer{code: 1001}, true
}
