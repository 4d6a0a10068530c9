package deed

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// checkLabel reports why the A-label cannot be registered, or returns nil.
func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("a label is empty")
	case len(label) > 63:
		return errors.New("a label has at most 63 characters")
	case label[0] == '-' || label[len(label)-1] == '-':
		return errors.New("a label neither begins nor ends with a hyphen")
	case len(label) > 3 && label[2:4] == "--" && !strings.HasPrefix(label, "xn--"):
		return errors.New("hyphens in the third and fourth place are kept for xn--")
	}
	if !strings.HasPrefix(label, "xn--") {
		return nil
	}
	return checkULabel(label)
}

// checkULabel checks an internationalised label against what registries sell:
// letters of one script that survive the conversion to ASCII and back.
func checkULabel(label string) error {
	unicodeLabel, err := idna.Registration.ToUnicode(label)
	if err != nil {
		return errors.New("it is not a valid internationalised label")
	}
	if back, err := idna.Registration.ToASCII(unicodeLabel); err != nil || back != label {
		return errors.New("it is not the canonical form of its label")
	}
	for _, r := range unicodeLabel {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(allowed, r) {
			return errors.New("symbols cannot be registered")
		}
		if unicode.Is(disallowed, r) {
			return fmt.Errorf("%q cannot be registered (RFC 5892)", r)
		}
	}
	if !oneScript(unicodeLabel) {
		return errors.New("its letters come from more than one script")
	}
	return nil
}

// allowed are the characters beside letters, marks and digits that IDNA2008 allows in any
// place (RFC 5892, 2.6): the ideographic zero, two Sindhi signs, and the Tibetan mark
// between syllables.
const allowed = "-\u3007\u06fd\u06fe\u0f0b"

// disallowed are the letters and marks that IDNA2008 disallows one by one (RFC 5892, 2.6),
// and those that Hangul syllables are made of (2.9). UTS 46, which package idna implements,
// has them.
var disallowed = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0640, Hi: 0x0640, Stride: 1}, {Lo: 0x07fa, Hi: 0x07fa, Stride: 1},
	{Lo: 0x1100, Hi: 0x11ff, Stride: 1},
	{Lo: 0x302e, Hi: 0x302f, Stride: 1}, {Lo: 0x3031, Hi: 0x3035, Stride: 1}, {Lo: 0x303b, Hi: 0x303b, Stride: 1},
	{Lo: 0xa960, Hi: 0xa97c, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7c6, Stride: 1}, {Lo: 0xd7cb, Hi: 0xd7fb, Stride: 1},
}}

// writing lists the scripts that one language uses together: Japanese, Korean, and
// Chinese with Bopomofo (UTS 39, 5.1, the augmented script sets).
var writing = [][]string{
	{"Han", "Hiragana", "Katakana"},
	{"Han", "Hangul"},
	{"Han", "Bopomofo"},
}

// oneScript reports whether all letters of the label belong to one script, or to
// scripts that one language uses together.
func oneScript(label string) bool {
	used := map[string]bool{}
	for _, r := range label {
		if unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for name, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				used[name] = true
				break
			}
		}
	}
	if len(used) <= 1 {
		return true
	}
	for _, together := range writing {
		rest := len(used)
		for _, script := range together {
			if used[script] {
				rest--
			}
		}
		if rest == 0 {
			return true
		}
	}
	return false
}
