package dnszone

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"deed.example/deed"
)

// A zoneFileEntry is one entry of a zone file: a directive or a record. Its words
// keep their quotes and escapes.
type zoneFileEntry struct {
	words    []string
	line     int  // its first line
	indented bool // it starts with a blank, and so has the host of the previous entry
}

// A zoneFileScanner splits a zone file into entries. An entry is a line, or several
// in parentheses.
type zoneFileScanner struct {
	rest string
	line int
}

// next returns the next entry, or io.EOF. With an error it also returns an entry,
// for the line number.
func (s *zoneFileScanner) next() (zoneFileEntry, error) {
	e := zoneFileEntry{line: s.line}
	depth := 0
	for s.rest != "" {
		c := s.rest[0]
		switch {
		case c == '\n':
			s.line++
			if depth == 0 && len(e.words) > 0 {
				s.rest = s.rest[1:]
				return e, nil
			}
			if depth == 0 {
				e = zoneFileEntry{line: s.line}
			}
		case c == ' ' || c == '\t':
			e.indented = e.indented || len(e.words) == 0 && depth == 0
		case c == ';':
			s.rest = s.rest[len(firstLine(s.rest)):]
			continue
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		default:
			word, err := s.word()
			if err != nil {
				e.line = s.line
				return e, err
			}
			e.words = append(e.words, word)
			continue
		}
		s.rest = s.rest[1:]
	}
	switch {
	case depth > 0:
		return e, errors.New("a parenthesis is not closed")
	case len(e.words) == 0:
		return e, io.EOF
	}
	return e, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// word returns the word at the beginning of the rest: up to a blank, a quoted
// string, or a parameter with a quoted string after its "=". It ends on its line.
func (s *zoneFileScanner) word() (string, error) {
	end, inside := 0, false
	for end < len(s.rest) && s.rest[end] != '\n' && (inside || !endsWord(s.rest[end])) {
		switch c := s.rest[end]; {
		case c == '\\':
			end++
		case c == '"' && inside:
			end++
			return s.take(end)
		case c == '"' && end > 0 && s.rest[end-1] != '=':
			return "", errNoSpace
		case c == '"':
			inside = true
		}
		end++
	}
	switch {
	case inside:
		return "", errors.New("a double quote is not closed on its line")
	case end > len(s.rest) || end > 0 && s.rest[end-1] == '\n':
		return "", errors.New("there is a backslash at the end of the line")
	case end == 0:
		return "", errors.New("there is a closing parenthesis without an opening one")
	}
	return s.take(end)
}

var errNoSpace = errors.New("there is no space between a word and a string in quotes")

func endsWord(c byte) bool { return strings.IndexByte(" \t\n;()", c) >= 0 }

// take removes the word of this length from the rest and returns it.
func (s *zoneFileScanner) take(end int) (string, error) {
	word := s.rest[:end]
	switch {
	case !utf8.ValidString(word) || strings.IndexFunc(word, unicode.IsControl) >= 0:
		return "", fmt.Errorf("%s has control characters or is not UTF-8", deed.Quoted(word))
	case end < len(s.rest) && !endsWord(s.rest[end]):
		return "", errNoSpace
	}
	s.rest = s.rest[end:]
	return word, nil
}

// directive handles a line that begins with "$".
func (p *zoneFileParser) directive(words []string) error {
	name := strings.ToUpper(words[0])
	switch name {
	case "$INCLUDE", "$GENERATE":
		return fmt.Errorf("%s is not supported: write the records themselves", name)
	case "$ORIGIN", "$TTL":
	default:
		return fmt.Errorf("%s is not a supported directive: use $ORIGIN and $TTL", deed.Quoted(words[0]))
	}
	if len(words) != 2 {
		return fmt.Errorf("%s takes one argument", name)
	}
	if name == "$ORIGIN" {
		return p.setOrigin(words[1])
	}
	ttl, err := parseTTL(words[1])
	p.ttl, p.fixed = ttl, true
	return err
}

func (p *zoneFileParser) setOrigin(name string) error {
	if name == "." {
		p.origin = ""
		return nil
	}
	origin, err := foldLabels(strings.TrimSuffix(p.whole(name), "."))
	if err != nil {
		return fmt.Errorf("$ORIGIN %s: %w", deed.Quoted(name), err)
	}
	p.origin = origin
	return nil
}

// head parses what is between the host and the data: the optional TTL and class in
// either order, and the type.
func (p *zoneFileParser) head(words []string) (ttl int, kind string, data []string, err error) {
	ttl, class := -1, ""
	for i, word := range words {
		upper := strings.ToUpper(word)
		switch {
		case ttl < 0 && word[0] >= '0' && word[0] <= '9':
			if ttl, err = parseTTL(word); err != nil {
				return 0, "", nil, err
			}
		case class == "" && upper == "IN":
			class = upper
		case upper == "CH" || upper == "HS" || upper == "CS":
			return 0, "", nil, fmt.Errorf("the class %s is not supported: write IN or no class", upper)
		default:
			return p.pickTTL(ttl), upper, words[i+1:], nil
		}
	}
	return 0, "", nil, errors.New("the record has no type")
}

// pickTTL returns the TTL of a record that has the given one, or -1 for none: then
// it is that of $TTL (RFC 2308, 4), or of the previous record.
func (p *zoneFileParser) pickTTL(given int) int {
	switch {
	case given >= 0:
		if !p.fixed {
			p.ttl = given
		}
		return given
	case p.ttl < 0:
		return defaultTTL
	}
	return p.ttl
}

// parseTTL parses seconds, or a sum of weeks, days, hours, minutes and seconds such
// as 1h30m.
func parseTTL(s string) (int, error) {
	units := map[byte]int{'w': 604800, 'd': 86400, 'h': 3600, 'm': 60, 's': 1}
	total, rest := 0, strings.ToLower(s)
	for rest != "" {
		length := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseUint(rest[:length], 10, 31)
		rest = rest[length:]
		unit := 1
		if rest != "" {
			unit, rest = units[rest[0]], rest[1:]
		} else if length < len(s) && total > 0 {
			unit = 0 // a number without a unit must be the only one
		}
		if err != nil || unit == 0 || total > math.MaxInt32 {
			return 0, fmt.Errorf("%s is not a TTL: write seconds, or units such as 1h30m", deed.Quoted(s))
		}
		total += int(n) * unit
	}
	return total, nil
}
