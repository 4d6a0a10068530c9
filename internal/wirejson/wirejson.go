// Package wirejson encodes responses as JSON.
//
// Text from outside (paths, headers, replies of registries) may contain any bytes,
// and JSON is UTF-8. Marshal never fails because of text: an invalid byte is
// written as \x and two hexadecimal digits, so that the reader sees the original.
// All responses are encoded with it, above all errors: an error that cannot be
// encoded would hide the cause.
package wirejson

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns v as JSON, the same bytes for the same value. It fails only when
// v has a type without a JSON encoding, such as a channel.
func Marshal(v any) ([]byte, error) {
	if raw, err := json.Marshal(v, strict); err == nil {
		return raw, nil
	}
	// Rare, and slower. In text that escapeText does not see, such as that in raw
	// JSON, invalid bytes become U+FFFD; two names may then be equal.
	return json.Marshal(v, lenient)
}

var (
	strict  = json.JoinOptions(json.Deterministic(true))
	lenient = json.JoinOptions(strict, json.WithMarshalers(escapeText), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
)

// escapeText encodes strings that are not UTF-8 and leaves all others to the
// library.
var escapeText = json.MarshalToFunc(func(enc *jsontext.Encoder, s string) error {
	if utf8.ValidString(s) {
		return errors.ErrUnsupported
	}
	return enc.WriteToken(jsontext.String(escape(s)))
})

// escape returns s with every invalid byte as \xNN.
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
