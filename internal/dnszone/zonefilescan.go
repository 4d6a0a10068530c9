package dnszone

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"deed.example/deed"
)

// A zoneFileEntry is one entry of a zone file: a directive or a record. Its words
// keep their quotes and escapes.
type zoneFileEntry struct {
	words    []string
	places   []place // of the words
	end      place   // where reading it ended
	indented bool    // it starts with a blank, and so has the host of the previous entry
}

// A place is a position in a file.
type place struct {
	line       int
	start, pos int // offsets of the line and of the position in the file
}

// A zoneFileScanner splits a zone file into entries. An entry is a line, or several
// in parentheses.
type zoneFileScanner struct {
	text string
	place
}

func newZoneFileScanner(text string) *zoneFileScanner {
	return &zoneFileScanner{text: text, place: place{line: 1}}
}

// position describes a place for a person; columns count characters.
func (s *zoneFileScanner) position(at place) string {
	return fmt.Sprintf("line %d, column %d", at.line, 1+utf8.RuneCountInString(s.text[at.start:at.pos]))
}

// rest is the part of the file that has not been read.
func (s *zoneFileScanner) rest() string { return s.text[s.pos:] }

// newLine goes to the next line, after the newline character at the position.
func (s *zoneFileScanner) newLine() {
	s.pos++
	s.start = s.pos
	s.line++
}

// skipLine goes to the next line after an error.
func (s *zoneFileScanner) skipLine() {
	s.pos += len(firstLine(s.rest()))
	if s.pos < len(s.text) {
		s.newLine()
	}
}

// next returns the next entry, or io.EOF. With another error, the end of the entry
// is where it is.
func (s *zoneFileScanner) next() (zoneFileEntry, error) {
	var e zoneFileEntry
	depth, opened := 0, s.place
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '\n':
			s.newLine()
			if depth == 0 && len(e.words) > 0 {
				return e, nil
			}
			if depth == 0 {
				e.indented = false
			}
			continue
		case c == ' ' || c == '\t':
			e.indented = e.indented || len(e.words) == 0 && depth == 0
		case c == ';':
			s.pos += len(firstLine(s.rest()))
			continue
		case c == '(':
			if depth == 0 {
				opened = s.place
			}
			depth++
		case c == ')' && depth > 0:
			depth--
		default:
			at := s.place
			word, err := s.word()
			if err != nil {
				e.end = at
				return e, err
			}
			e.words, e.places = append(e.words, word), append(e.places, at)
			continue
		}
		s.pos++
	}
	switch {
	case depth > 0:
		e.end = opened
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

// word returns the word at the position: up to a blank, a quoted string, or a
// parameter with a quoted string after its "=". It ends on its line.
func (s *zoneFileScanner) word() (string, error) {
	rest := s.rest()
	end, inside := 0, false
	for end < len(rest) && rest[end] != '\n' && (inside || !endsWord(rest[end])) {
		switch c := rest[end]; {
		case c == '\\':
			end++
		case c == '"' && inside:
			end++
			return s.take(end)
		case c == '"' && end > 0 && rest[end-1] != '=':
			return "", errNoSpace
		case c == '"':
			inside = true
		}
		end++
	}
	switch {
	case inside:
		return "", errors.New("a double quote is not closed on its line")
	case end > len(rest) || end > 0 && rest[end-1] == '\n':
		return "", errors.New("there is a backslash at the end of the line")
	case end == 0:
		return "", errors.New("there is a closing parenthesis without an opening one")
	}
	return s.take(end)
}

var errNoSpace = errors.New("there is no space between a word and a string in quotes")

func endsWord(c byte) bool { return strings.IndexByte(" \t\n;()", c) >= 0 }

// take returns the word of this length at the position and goes behind it.
func (s *zoneFileScanner) take(end int) (string, error) {
	rest := s.rest()
	word := rest[:end]
	switch {
	case !utf8.ValidString(word) || strings.IndexFunc(word, unicode.IsControl) >= 0:
		return "", fmt.Errorf("%s has control characters or is not UTF-8", deed.Quoted(word))
	case end < len(rest) && !endsWord(rest[end]):
		return "", errNoSpace
	}
	s.pos += end
	return word, nil
}
