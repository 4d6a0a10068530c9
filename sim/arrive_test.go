package sim

import (
	"testing"
	"time"
)

// A name that its registry has delegated to us, without our asking, waits for its DS until no
// cache has the servers that it had before.
func TestDelegatedToUsByItsRegistryWaits(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(false)
	s.must(s.SetNameservers(t.Context(), signedName, places["home"]))
	s.wait(30 * time.Hour)
	s.is("compared", "home", 0)
	s.wait(60 * time.Hour)
	s.is("settled", "home", 1)
}
