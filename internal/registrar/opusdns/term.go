package opusdns

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// CheckTerm implements registrar.TermLimiter. The names of a TLD that the vendor no longer sells
// may still be renewed.
func (b *Backend) CheckTerm(ctx context.Context, o registrar.Order) error {
	rules, err := b.tldRules(ctx, o.Name.TLD())
	switch {
	case err != nil && o.Kind == registrar.OrderRenew && deed.CodeOf(err) == deed.CodeTLDNotSupported:
		return nil
	case err != nil:
		return err
	case !rules.takes(o):
		return deed.Invalid("years", "%s is sold for %s years at once, not for %d", o.Name, listed(rules.termsOf(o)), o.Years)
	}
	return nil
}

// takes reports whether an order is for one of the terms of its kind. A transfer has none.
func (r tldRules) takes(o registrar.Order) bool {
	return o.Kind == registrar.OrderTransfer || sells(r.termsOf(o), o.Years)
}

func (r tldRules) termsOf(o registrar.Order) []int {
	if o.Kind == registrar.OrderRenew {
		return r.RenewYears
	}
	return r.RegisterYears
}

// terms returns the whole years among the terms; nil when there is none, so that any
// is tried.
func terms(all []period) (years []int) {
	for _, p := range all {
		if p.Unit == "y" && p.Value >= 1 && p.Value <= maxYears && !slices.Contains(years, p.Value) {
			years = append(years, p.Value)
		}
	}
	slices.Sort(years)
	return years
}

// sells reports whether a term is among those that a TLD has.
func sells(terms []int, years int) bool {
	return years >= 1 && years <= maxYears && (len(terms) == 0 || slices.Contains(terms, years))
}

// listed returns the terms for a message: "1, 2, 5".
func listed(terms []int) string {
	if len(terms) == 0 {
		return "1 to " + strconv.Itoa(maxYears)
	}
	words := make([]string, len(terms))
	for i, n := range terms {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
