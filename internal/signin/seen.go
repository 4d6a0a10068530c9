package signin

import (
	"slices"
	"sync"
)

// maxSeen is the capacity of the cache: about 10 MB.
const maxSeen = 16_384

// seenTokens caches verified access tokens. It does not cover expiry or revocation,
// which are checked each time. When the keys change it is cleared, because a key may
// have been removed on purpose.
type seenTokens struct {
	mu     sync.RWMutex
	claims map[string]claims // guarded by mu, like the keys that verified it
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
