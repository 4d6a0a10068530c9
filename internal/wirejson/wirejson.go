// Package wirejson encodes what we answer as JSON.
//
// Text from outside (paths, headers, replies of registries) may be any bytes,
// and JSON is UTF-8. Marshal never fails because of text: a byte that is not
// part of UTF-8 is written as \x and two hexadecimal digits, so that the reader
// sees what was there. Whoever writes an answer uses it, errors first of all: an
// error that cannot be written would hide what went wrong.
package wirejson

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns v as JSON, the same bytes for the same value. It fails only
// when v holds what JSON has no form for, such as a channel.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err == nil {
		return raw, nil
	}
	// Rare, and slower. What escapeText does not see, such as text inside of raw
	// JSON, gets U+FFFD for its bad bytes; two names may then be the same.
	return json.Marshal(v, json.Deterministic(true), json.WithMarshalers(escapeText),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// escapeText writes strings that are not UTF-8 and leaves all others to the
// library.
var escapeText = json.MarshalToFunc(func(enc *jsontext.Encoder, s string) error {
	if utf8.ValidString(s) {
		return errors.ErrUnsupported
	}
	return enc.WriteToken(jsontext.String(escape(s)))
})

// escape returns s with every byte that is not part of UTF-8 as \xNN.
func escape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
