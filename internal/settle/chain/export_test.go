package chain

import "errors"

// Cause says what stands in the way of those who wait.
func (s *Settler) Cause() (all error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		all = errors.Join(all, w.cause)
	}
	return all
}

// Waiting says how many payments and refunds are waited for.
func (s *Settler) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}
