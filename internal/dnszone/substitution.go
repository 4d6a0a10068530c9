package dnszone

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"deed.example/deed"
)

// validSubstitution checks the regexp of a NAPTR record: delimiter, expression,
// delimiter, replacement, delimiter, and an optional "i" (RFC 3402, 3.2). Some
// secondaries refuse the whole zone because of an invalid one, and compile the others.
func validSubstitution(s string) bool {
	if s == "" {
		return true
	}
	if strings.IndexByte(`0123456789\i`, s[0]) >= 0 {
		return false
	}
	parts := cutUnescaped(s[1:], s[0])
	if len(parts) != 3 || parts[2] != "" && parts[2] != "i" {
		return false
	}
	tree, err := syntax.Parse(parts[0], syntax.POSIX)
	if err != nil || !plainExpression(parts[0]) || expandedSize(tree) > maxExpandedSize {
		return false
	}
	for i := 0; i < len(parts[1]); i++ {
		if parts[1][i] != '\\' {
			continue
		}
		i++
		if i == len(parts[1]) || deed.Digits(parts[1][i:i+1]) && (parts[1][i] == '0' || int(parts[1][i]-'0') > tree.MaxCap()) {
			return false
		}
	}
	return true
}

// maxExpandedSize limits what an expression is compiled to: a bound repeats what it is about.
const maxExpandedSize = 1000

// expandedSize returns about how many steps the expression is compiled to.
func expandedSize(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n += expandedSize(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(1, tree.Min, tree.Max)
	}
	return n
}

var (
	// bracketPattern is a bracket expression without anything on whose meaning programs
	// differ, such as a range that begins at the end of another.
	bracketPattern = regexp.MustCompile(`^\[\^?\]?(\[:[a-z]+:\]|[^][\\-]-[^][\\-]|[^][\\-])*-?\]`)
	boundPattern   = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
)

// maxBound is the maximum of a bound (POSIX, RE_DUP_MAX).
const maxBound = 255

// plainExpression reports whether a valid expression is one for BIND, too, which is stricter
// than POSIX: no empty alternatives and groups, nothing that is repeated twice, and no
// repeated ^ or $. A secondary refuses the whole zone for any other.
func plainExpression(s string) bool {
	atom, repeatable := false, false // whether something was matched in this alternative, and whether it may be repeated
	for s != "" {
		length := 1
		switch s[0] {
		case '(':
			atom, repeatable = false, false
		case ')', '|':
			if !atom {
				return false
			}
			atom, repeatable = s[0] == ')', s[0] == ')'
		case '^', '$':
			atom, repeatable = true, false
		case '*', '+', '?', '{':
			if s[0] == '{' {
				length = boundLength(s)
			}
			if !repeatable || length == 0 {
				return false
			}
			repeatable = false
		case '[':
			if length = len(bracketPattern.FindString(s)); length == 0 {
				return false
			}
			atom, repeatable = true, true
		case '\\':
			length = min(2, len(s))
			atom, repeatable = true, true
		default:
			atom, repeatable = true, true
		}
		s = s[length:]
	}
	return atom
}

// boundLength returns the length of the bound at the beginning of s, such as {1,2}, or 0.
func boundLength(s string) int {
	bound := boundPattern.FindString(s)
	for number := range strings.SplitSeq(strings.Trim(bound, "{}"), ",") {
		if n, err := strconv.Atoi(number); number != "" && (err != nil || n > maxBound) {
			return 0
		}
	}
	return len(bound)
}

// cutUnescaped splits s at every delimiter that is not escaped by a backslash.
func cutUnescaped(s string, delimiter byte) []string {
	var parts []string
	begin := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delimiter:
			parts = append(parts, s[begin:i])
			begin = i + 1
		}
	}
	return append(parts, s[begin:])
}
