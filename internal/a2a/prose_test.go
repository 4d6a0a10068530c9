package a2a

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"deed.example/deed/api"
)

// Names in a text are found whole, or not at all.
func TestNamesInText(t *testing.T) {
	for text, want := range map[string][]string{
		"Is Example.com free? Or example.io, i.e. my 2nd choice.": {"example.com", "example.io"},
		"is bücher.com free?":                                      {"xn--bcher-kva.com"},
		"example.comは空いていますか":                                      {"example.com"},
		"https://example.com/a.b, mailto:bob@example.net.":         {"example.com", "example.net"},
		"-example.com\n-example.net":                               {"example.com", "example.net"},
		"my_example.com, b%C3%BCcher.com, x❤example.com":           nil,
		"v1.2, 192.0.2.1, 3.50 USDC, and so on... that is it":      nil,
		"www.example.com, foo.bücher.com":                          nil, // hosts
		"example.com EXAMPLE.COM example.com.":                     {"example.com"},
		"a.com b.com c.com d.com e.com f.com":                      {"a.com", "b.com", "c.com", "d.com", "e.com"},
		strings.Repeat("a_b.com ", maxWordsInText) + "example.com": nil,
	} {
		if got := namesIn(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A name that could not be checked is not said to be taken, and a minimum term is said.
func TestSentencesAboutNames(t *testing.T) {
	for want, found := range map[string]api.Found{
		"example.com is not available (taken).":                                           {Domain: "example.com", Reason: "taken"},
		"bücher.com (xn--bcher-kva.com) is not available":                                 {Domain: "xn--bcher-kva.com", Reason: "reserved"},
		"example.com cannot be checked at the moment":                                     {Domain: "example.com", Reason: "unknown"},
		"example.ai is available and costs 96.50 USDC for the first year of at least 2; ": {Domain: "example.ai", Available: true, Price: "96.50", MinYears: 2},
		"example.com is available and costs 13.06 USDC for the first year; ":              {Domain: "example.com", Available: true, Price: "13.06"},
	} {
		if got := sentence(found); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
