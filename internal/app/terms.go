package app

import (
	"maps"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// The default terms of cancellations: ICANN's AGP Limits Policy lets a registrar delete
// 50 names of a TLD each month, or one in ten of those it registered.
const (
	defaultCancelFee     = 20 * deed.Cent
	defaultCancelMonthly = 50
	defaultCancelPercent = 10
)

// defaultLookups is how many names are compared with a backend in a second: twice what a
// million names need in a day. The embedded registry has no limit.
const defaultLookups = 24

// commonSettings are what the keys say that every block can have.
type commonSettings struct {
	terms   lifecycle.CancelTerms
	lookups int // per second; 0 for no limit

	registrant lifecycle.RegistrantPolicy
}

// commonValues takes the keys that every block can have out of its values. It returns
// the other values.
func commonValues(c RegistrarConfig) (common commonSettings, rest map[string]string, err error) {
	own, rest := map[string]string{}, maps.Clone(c.Values)
	for _, key := range []string{"cancel_fee_usd", "cancel_monthly", "cancel_percent", "cancel_premium", "lookups_per_second", "registrant_mode"} {
		if text, set := rest[key]; set {
			own[key] = text
			delete(rest, key)
		}
	}
	in := registrar.Settings{Values: own}.Read()
	terms := lifecycle.CancelTerms{Fee: defaultCancelFee, Monthly: defaultCancelMonthly, Percent: defaultCancelPercent, Premium: in.Bool("cancel_premium")}
	if in.Text("cancel_monthly") != "" {
		terms.Monthly = in.Int("cancel_monthly", 0, 1_000_000)
	}
	if in.Text("cancel_percent") != "" {
		terms.Percent = in.Int("cancel_percent", 0, 100)
	}
	if text := in.Text("cancel_fee_usd"); text != "" {
		fee, err := deed.ParseUSDC(text)
		if err != nil {
			in.Fail("cancel_fee_usd", err)
		}
		terms.Fee = fee
	}
	common = commonSettings{terms: terms, lookups: in.Int("lookups_per_second", 1, 10_000)}
	common.registrant = lifecycle.RegistrantPolicy(in.Choice("registrant_mode", string(lifecycle.RegistrantProxy), string(lifecycle.RegistrantOptional), string(lifecycle.RegistrantRequired)))
	if common.lookups == 0 && c.Type != localKind {
		common.lookups = defaultLookups
	}
	return common, rest, in.Err()
}

// registrarMarkup returns the markup of the registrar that sells a TLD, if its block has
// one.
func registrarMarkup(blocks []RegistrarConfig) func(deed.TLD) (catalog.Markup, bool) {
	of := map[deed.TLD]*catalog.Markup{} // by TLD, and "*"
	for _, c := range blocks {
		for _, text := range c.TLDs {
			tld, err := deed.ParseTLD(text)
			if err != nil { // "*"; other words are refused when the registrar is opened
				tld = deed.TLD(text)
			}
			of[tld] = c.Markup
		}
	}
	return func(tld deed.TLD) (catalog.Markup, bool) {
		m, listed := of[tld]
		if !listed {
			m = of["*"]
		}
		if m == nil {
			return catalog.Markup{}, false
		}
		return *m, true
	}
}
