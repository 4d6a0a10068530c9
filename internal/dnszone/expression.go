package dnszone

import (
	"regexp"
	"strconv"
	"strings"
)

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
