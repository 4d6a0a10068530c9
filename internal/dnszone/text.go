package dnszone

import (
	"errors"
	"fmt"
	"strings"

	"deed.example/deed"
)

// A field is one part of a value: a word, or a string in double quotes.
type field struct {
	text   string // without the quotes and escapes
	quoted bool
	param  bool // key="…": a word with a string right behind its "="
}

// splitFields splits a value. A backslash is an escape inside quotes only, and the
// special characters of zone files are not allowed outside of them, so that the
// value survives a zone file unchanged.
func splitFields(value string) ([]field, error) {
	var fields []field
	rest := strings.TrimLeft(value, " ")
	for rest != "" {
		word := rest[:wordLength(rest)]
		if strings.ContainsAny(word, `\;()`) {
			return nil, errors.New(deed.Quoted(word) + ` has one of \ ; ( ) in it: put the text in double quotes`)
		}
		f := field{text: word, quoted: word == ""}
		rest = rest[len(word):]
		if strings.HasPrefix(rest, `"`) {
			text, after, err := cutQuoted(rest)
			if err != nil {
				return nil, err
			}
			f.text, f.param, rest = word+text, word != "", after
		}
		if f.param && !strings.HasSuffix(word, "=") || rest != "" && rest[0] != ' ' {
			return nil, errors.New("there is no space between a word and a string in quotes")
		}
		fields = append(fields, f)
		rest = strings.TrimLeft(rest, " ")
	}
	return fields, nil
}

// wordLength returns the length of the word at the beginning of s, up to a space or
// a quote.
func wordLength(s string) int {
	i := strings.IndexAny(s, ` "`)
	if i < 0 {
		return len(s)
	}
	return i
}

// cutQuoted returns the text of the double-quoted string at the beginning of s, and
// the rest.
func cutQuoted(s string) (text, rest string, err error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			text, err = unescaped(s[1:i])
			return text, s[i+1:], err
		case '\\':
			i++
		}
	}
	return "", "", errors.New("a double quote is not closed")
}

// unescaped returns s with its escapes replaced.
func unescaped(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := s[i], 1
		if c == '\\' {
			var err error
			if c, n, err = unescape(s[i:]); err != nil {
				return "", err
			}
		}
		b.WriteByte(c)
		i += n
	}
	return b.String(), nil
}

// unescape parses the escape at the beginning of s and returns its length: \DDD is
// a byte by its number, and \ before another character is that character (RFC 1035,
// 5.1).
func unescape(s string) (c byte, length int, err error) {
	if len(s) >= 4 && deed.Digits(s[1:4]) {
		n := int(s[1]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0')
		if n > 255 {
			return 0, 0, fmt.Errorf("%s is not the number of a byte", s[:4])
		}
		return byte(n), 4, nil
	}
	if len(s) < 2 || deed.Digits(s[1:2]) {
		return 0, 0, errors.New(`a backslash must be followed by a character or three digits: write \\ for a backslash`)
	}
	return s[1], 2, nil
}

// quoted returns the text as a string in double quotes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03d`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable reports whether all of s are printable ASCII characters.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
