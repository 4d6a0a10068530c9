package opusdns

import (
	"regexp"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A code has the length and the characters that its TLD demands, and is new each
// time.
func TestNewCode(t *testing.T) {
	for pattern, rules := range map[string]tldRules{
		`^.{24}$`:                   defaultRules(),
		`^[A-Za-z0-9]{8,16}$`:       {codeMin: 8, codeMax: 16, codePattern: regexp.MustCompile(`^[A-Za-z0-9]+$`)},
		`^.{32}$`:                   {codeMin: 32, codeMax: 32},
		`[A-Za-z].*`:                {codeMin: 6, codeMax: 6},
		`^[A-Za-z].*[^A-Za-z0-9].*`: {codeMin: 6, codeMax: 32, codePattern: regexp.MustCompile(`[^A-Za-z0-9]`)},
	} {
		seen := map[deed.Secret]bool{}
		for range 50 {
			code, err := newCode(rules)
			if err != nil || !regexp.MustCompile(pattern).MatchString(code.Reveal()) || seen[code] {
				t.Errorf("%s: got %q, %v, seen before %t", pattern, code.Reveal(), err, seen[code])
			}
			seen[code] = true
		}
	}
	if code, err := newCode(tldRules{codeMin: 6, codeMax: 32, codePattern: regexp.MustCompile(`^$`)}); err == nil {
		t.Errorf("got %q for a pattern that nothing matches", code.Reveal())
	}
}

// The code of a name tells which order it was made for, without knowing the order.
func TestOrderCode(t *testing.T) {
	b := &Backend{config: Config{Secret: "a secret of the test"}}
	other := &Backend{config: Config{Secret: "another secret of the test"}}
	first := registrar.Order{Reference: "first", Name: "one.com"}
	second := registrar.Order{Reference: "second", Name: "one.com"}
	for _, rules := range []tldRules{
		defaultRules(), {codeMin: 8, codeMax: 16, codePattern: regexp.MustCompile(`^[A-Za-z0-9]+$`)}, {codeMin: 6, codeMax: 32, codePattern: regexp.MustCompile(`^[a-z0-9]+$`)},
		{codeMin: 32, codeMax: 32},
	} {
		code := b.orderCode(first, rules)
		if len(code) < minCode || len(code) > rules.codeMax || code == b.orderCode(second, rules) || code != b.orderCode(first, rules) || code == other.orderCode(first, rules) {
			t.Errorf("got %q and %q", code.Reveal(), b.orderCode(second, rules).Reveal())
		}
		for o, want := range map[string][2]bool{"first": {true, false}, "second": {false, true}} {
			this, another := b.orderOf(code, registrar.Order{Reference: o, Name: "one.com"})
			if [2]bool{this, another} != want {
				t.Errorf("the code of first: got %t, %t for %s", this, another, o)
			}
		}
		if this, another := b.orderOf(code, registrar.Order{Reference: "first", Name: "two.com"}); this || !another {
			t.Errorf("another name: got %t, %t", this, another)
		}
		if this, another := other.orderOf(code, first); this || another {
			t.Errorf("another secret: got %t, %t", this, another)
		}
	}
	for _, code := range []deed.Secret{"", "Z7-", "x", "0123456789", "xK9#mP2$vL5nQ8wR"} {
		if this, another := b.orderOf(code, first); this || another {
			t.Errorf("%q: got %t, %t", code.Reveal(), this, another)
		}
	}
	if code := b.orderCode(first, tldRules{codeIsTheirs: true, codeMin: 6, codeMax: 32}); code != "" {
		t.Errorf("got %q for a registry that makes codes itself", code.Reveal())
	}
	if code := b.orderCode(first, tldRules{codeMin: 6, codeMax: 32, codePattern: regexp.MustCompile(`^[0-9]+$`)}); code != "" {
		t.Errorf("got %q for a pattern that it does not match", code.Reveal())
	}
}
