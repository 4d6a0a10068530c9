package lifecycle_test

import (
	"testing"

	"deed.example/deed/internal/lifecycle"
)

// The allowance of a month is a number, or a share of the registrations that remain, whichever
// is more (AGP Limits Policy).
func TestCancelTermsAllow(t *testing.T) {
	usual := lifecycle.CancelTerms{Monthly: 50, Percent: 10}
	for _, c := range []struct {
		terms           lifecycle.CancelTerms
		used, remaining int
		want            bool
	}{
		{usual, 49, 0, true}, {usual, 50, 0, false},
		{usual, 50, 509, false}, {usual, 50, 510, true}, {usual, 99, 999, false}, {usual, 99, 1000, true}, {usual, 100, 1000, false},
		{lifecycle.CancelTerms{}, 0, 1000, false},
		{lifecycle.CancelTerms{Monthly: 1}, 0, 0, true}, {lifecycle.CancelTerms{Monthly: 1}, 1, 1000, false},
		{lifecycle.CancelTerms{Percent: 100}, 0, 0, false}, {lifecycle.CancelTerms{Percent: 100}, 0, 1, true},
	} {
		if got := c.terms.Allows(c.used, c.remaining); got != c.want {
			t.Errorf("%+v, %d used, %d remaining: got %v", c.terms, c.used, c.remaining, got)
		}
	}
}
