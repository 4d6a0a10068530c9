package wirejson_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
	"deed.example/deed/internal/wirejson"
)

func TestInvalidUTF8IsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                "plain",
		"\xff":                 `\xff`,
		"/a\xffb":              `/a\xffb`,
		"b\u00fccher\xfc.com":  "b\u00fccher" + `\xfc.com`,
		"\xed\xa0\x80":         `\xed\xa0\x80`, // half a surrogate
		"\xc0\xaf":             `\xc0\xaf`,     // an overlong slash
		"\ufffd":               "\ufffd",       // a valid character
		"\x00\x1f\u2028\u202e": "\x00\x1f\u2028\u202e",
		"cut \xe2\x82":         `cut \xe2\x82`,
	} {
		raw, err := wirejson.Marshal(api.Error{Message: text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var back api.Error
		if err := json.Unmarshal(raw, &back); err != nil || back.Message != want {
			t.Errorf("%q: got %q, %v, want %q", text, back.Message, err, want)
		}
	}
}

// everywhere has text in every position that a response can have it.
type everywhere struct {
	api.Error
	List  []string
	Names map[string]string
	Raw   jsontext.Value
	Any   any
	Link  *string
	Named named
}

type named string

func FuzzMarshalText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\xff", "a\xc3", "\xed\xa0\x80", "\u202e\x00\"\\", strings.Repeat("\xf0\x9f", 100)} {
		f.Add(seed, "other")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		v := everywhere{
			Error: api.Error{Error: one, Message: two, Code: one, RequestID: two, Hint: one, Details: []api.Detail{{Field: one, Reason: two}}},
			List:  []string{one, two}, Names: map[string]string{one: two, one + "\xff": one, one + "\xfe": two},
			Raw: jsontext.Value(`"` + strings.NewReplacer(`"`, "", `\`, "", "\n", "").Replace(printable(one)) + `"`),
			Any: map[string]any{two: []any{one}}, Link: &two, Named: named(one),
		}
		raw, err := wirejson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)) || !utf8.Valid(raw) {
			t.Fatalf("not JSON: %q", raw)
		}
		var back struct{ Message string }
		if err := json.Unmarshal(raw, &back, json.MatchCaseInsensitiveNames(true), jsontext.AllowDuplicateNames(true)); err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(two) && back.Message != two || !utf8.ValidString(two) && !strings.Contains(back.Message, `\x`) {
			t.Errorf("%q came back as %q", two, back.Message)
		}
	})
}

// printable returns s without control characters, which are invalid in JSON text.
// Bytes that are not UTF-8 stay.
func printable(s string) string {
	var out []byte
	for _, c := range []byte(s) {
		if c >= ' ' {
			out = append(out, c)
		}
	}
	return string(out)
}
