package sim

import (
	"testing"
	"time"
)

// A name with some of our servers beside others has no DS of the others: ours do not have its
// key. It waits for the caches before and after.
func TestOurServersBesideOthers(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.to("both", ""))
	s.is("withdrawn", "a", 0)
	s.wait(26 * time.Hour)
	s.is("moved", "both", 0)
	s.wait(100 * time.Hour)
	s.failed(s.put(foreignDS))
	s.must(s.to("a", ""))
	s.is("elsewhere", "a", 0)
	s.failed(s.put(foreignDS))
	s.wait(50 * time.Hour)
	s.must(s.put(foreignDS))
	s.is("signed", "a", 1)
}

// The same by force does not leave the name bogus for ever: its DS is removed at once.
func TestOurServersAreForcedBesideOthers(t *testing.T) {
	s := openScripted(t)
	s.elsewhere(true)
	s.must(s.force("both"))
	s.wait(2 * forcedFor)
	s.is("forced", "both", 0)
}
