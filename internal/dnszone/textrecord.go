package dnszone

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringLength is the maximum length of one character-string of a TXT record (RFC
// 1035, 3.3).
const stringLength = 255

// readText returns the character-strings of a TXT value. A value that begins with a
// double quote is in presentation format and keeps its strings; only one that is too
// long is split. Any other value is one text.
func readText(value string) ([]string, error) {
	if !strings.HasPrefix(value, `"`) {
		return splitText(value), nil
	}
	fields, err := splitFields(value)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, f := range fields {
		if !f.quoted {
			return nil, errors.New("a quoted string is followed by something else: put all of it in quotes")
		}
		list = append(list, splitText(f.text)...)
	}
	return list, checkText(list)
}

// splitText splits a text into strings that are as long as possible.
func splitText(text string) (list []string) {
	for len(text) > stringLength {
		list, text = append(list, text[:stringLength]), text[stringLength:]
	}
	return append(list, text)
}

func checkText(list []string) error {
	switch text := strings.Join(list, ""); {
	case text == "":
		return errors.New("the text is empty")
	case !utf8.ValidString(text) || strings.IndexFunc(text, unicode.IsControl) >= 0:
		return errors.New("the text has control characters or is not UTF-8")
	}
	return nil
}

// textEscapes escapes the text of a string in quotes.
var textEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// showText returns the canonical value of the strings: the text itself, if it is
// split as any text is and not taken for presentation format, or else the strings in
// quotes.
func showText(list []string) string {
	text := strings.Join(list, "")
	if slices.Equal(list, splitText(text)) {
		list = []string{text}
		if !strings.HasPrefix(text, `"`) {
			return text
		}
	}
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = `"` + textEscapes.Replace(s) + `"`
		if !utf8.ValidString(s) { // it ends within a character
			parts[i] = quoted(s)
		}
	}
	return strings.Join(parts, " ")
}

// textData returns the rdata of the strings.
func textData(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteByte(byte(len(s)))
		b.WriteString(s)
	}
	return b.String()
}

// textOf returns the strings of the rdata of a TXT record.
func textOf(data string) (list []string, err error) {
	for len(data) > 0 {
		n := int(data[0])
		if len(data) < 1+n {
			return nil, errors.New("a string of the TXT record is cut off")
		}
		list = append(list, data[1:1+n])
		data = data[1+n:]
	}
	return list, checkText(list)
}
