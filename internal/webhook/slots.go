package webhook

import (
	"sync"

	"deed.example/deed"
)

// slots counts the turns of a lane that are under way.
type slots struct {
	mu     sync.Mutex
	total  int                 // guarded by mu
	owners map[deed.Wallet]int // turns of each owner; guarded by mu
}

func (s *slots) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total >= laneSlots
}

// take reserves a slot for an owner, who has ownerSlots at most.
func (s *slots) take(owner deed.Wallet) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= laneSlots || s.owners[owner] >= ownerSlots {
		return false
	}
	if s.owners == nil {
		s.owners = map[deed.Wallet]int{}
	}
	s.total++
	s.owners[owner]++
	return true
}

func (s *slots) release(owner deed.Wallet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.owners[owner]--; s.owners[owner] == 0 {
		delete(s.owners, owner)
	}
}
