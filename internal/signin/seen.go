package signin

import (
	"slices"
	"sync"
)

// maxSeen bounds the tokens that are remembered: some 10 MB.
const maxSeen = 16_384

// seenTokens remembers the access tokens that were found good, so that checking
// one again costs next to nothing. It knows nothing of expiry or revocation:
// those are looked at each time. When the keys change it forgets everything,
// because a key may have been taken away for a reason.
type seenTokens struct {
	mu     sync.RWMutex
	claims map[string]claims // guarded by mu, as the keys it was filled under
	keys   []TokenKey
}

func (s *seenTokens) get(token string, keys []TokenKey) (claims, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !slices.Equal(s.keys, keys) {
		return claims{}, false
	}
	c, ok := s.claims[token]
	return c, ok
}

func (s *seenTokens) put(token string, c claims, keys []TokenKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.keys, keys) || len(s.claims) >= maxSeen {
		s.claims, s.keys = map[string]claims{}, keys
	}
	s.claims[token] = c
}
