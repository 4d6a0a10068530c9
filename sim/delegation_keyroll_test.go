package sim

import (
	"testing"
	"time"

	"deed.example/deed"
)

// replaceKey has the key replaced, up to the end of the last wait.
func (s *scripted) replaceKey() {
	s.t.Helper()
	if _, err := s.zones.RequestKeyRolls(s.t.Context(), ""); err != nil {
		s.t.Fatal(err)
	}
	s.wait(3 * time.Hour)
	roll, err := s.zones.KeyRoll(s.t.Context(), signedName)
	s.must(err)
	s.wait(roll.EffectiveAt.Sub(s.now) - time.Second)
	s.now = roll.EffectiveAt
}

// rolled fails unless the roll has ended.
func (s *scripted) rolled(want bool) {
	s.t.Helper()
	if _, err := s.zones.KeyRoll(s.t.Context(), signedName); want != (deed.CodeOf(err) == deed.CodeNotFound) {
		s.t.Errorf("the roll has ended: got %v, want %t", err, want)
	}
}

// One error of the registry when a key roll is about to end does not restart its wait.
func TestKeyRollEndsAfterAnError(t *testing.T) {
	s := openScripted(t)
	s.replaceKey()
	s.script["Holding"] = []fate{{notDone: true}}
	s.failed(s.advance("roll the key"))
	s.rolled(false)
	s.wait(2 * time.Minute)
	s.rolled(true)
}

// A roll that finds the DS of the old key at its end replaces it without an answer, and waits
// until no cache has it.
func TestKeyRollWaitsForADSOfTheOldKey(t *testing.T) {
	for title, f := range map[string]fate{"answer lost": {lost: true}, "crash": {dies: true}, "done": {}} {
		t.Run(title, func(t *testing.T) {
			s := openScripted(t)
			old := s.parent.last().ds
			s.replaceKey()
			s.parent = append(s.parent, published{at: s.now, ds: old}) // by a call that began before
			s.script["SetDS"] = []fate{f}
			_ = s.advance("roll the key")
			s.wait(10 * time.Minute)
			s.rolled(false)
			s.wait(30 * time.Hour)
			s.rolled(true)
			s.is("rolled", "home", 1)
		})
	}
}
