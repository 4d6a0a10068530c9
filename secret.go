package deed

import (
	"fmt"
	"log/slog"
)

// A Secret is text that must not be exposed: a password, a key, a token. When it is
// printed, logged or encoded, the result is "***"; only Reveal returns the text.
type Secret string

const hidden = "***"

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// Format hides the text from every verb of package fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) } // fmt has nowhere to report it

// LogValue hides the text from package log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
