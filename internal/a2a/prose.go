package a2a

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/wirejson"
)

const (
	maxNamesInText = 5   // that are checked
	maxWordsInText = 100 // that are looked at for names
)

// nameInText finds what may be a domain name in a text. Its labels take more than those
// of a name may have, so that the end of a longer word is not taken for a name: of
// bücher.com that would be cher.com. The last one is in ASCII or has none, because some
// languages have no spaces: example.comは.
var nameInText = regexp.MustCompile(`[\pL\pM\pN\p{So}\p{Cf}_%-]+(?:\.[\pL\pM\pN\p{So}\p{Cf}_%-]+)*\.(?:[A-Za-z0-9_%-]{2,}|[^\x00-\x7F\pZ\pP]+)`)

// answerText answers a message without a data part. There is no language model
// behind it: it checks the names in the text, and says what to send to buy one. A
// text without names gets the format of requests.
func (h *requestHandler) answerText(ctx context.Context, m *a2a.Message) *a2a.Message {
	names := namesIn(m)
	if len(names) == 0 {
		return h.help(m, "I do not understand free text.")
	}
	found := h.look(ctx, names)
	if len(found) == 0 {
		return h.help(m, "I do not understand free text.")
	}
	return h.help(m, "I do not understand free text, but I found names in it. "+strings.Join(found, " "))
}

// look returns sentences about names. Some may not be names: of those under TLDs that are
// not sold it says that, and checks the others.
func (h *requestHandler) look(ctx context.Context, names []string) (sentences []string) {
	tool, _ := agent.Find("check_domains")
	args, err := wirejson.Marshal(map[string]any{"domains": names})
	if err != nil {
		return nil
	}
	a, err := h.Executor.Do(ctx, tool, agent.Request{Arguments: args, From: h.from})
	var found struct {
		api.CheckResult
		Code    string `json:"code"` // of an error
		Message string `json:"message"`
	}
	if err != nil || json.Unmarshal(a.Body, &found) != nil {
		return nil
	}
	for _, r := range found.Results {
		sentences = append(sentences, sentence(r))
	}
	switch {
	case found.Code == "":
	case found.Code != string(deed.CodeTLDNotSupported):
		sentences = []string{strings.Join(names, ", ") + " cannot be checked: " + found.Message + "."}
	case len(names) == 1:
		sentences = []string{names[0] + ": " + found.Message + "."}
	default:
		for _, name := range names {
			sentences = append(sentences, h.look(ctx, []string{name})...)
		}
	}
	return sentences
}

// sentence says whether a name is available, and how to buy it. It has the Unicode form of
// a name, too, which shows what was taken for one.
func sentence(r api.Found) string {
	name := r.Domain
	if shown := deed.Name(name).Unicode(); shown != name {
		name = shown + " (" + name + ")"
	}
	switch {
	case r.Reason == "unknown":
		return name + " cannot be checked at the moment: ask again."
	case !r.Available:
		return fmt.Sprintf("%s is not available (%s).", name, r.Reason)
	}
	years := ""
	if r.MinYears > 1 {
		years = fmt.Sprintf(" of at least %d", r.MinYears)
	}
	return fmt.Sprintf(`%s is available and costs %s USDC for the first year%s; to buy it, send {"skill":"register_domain","arguments":{"domain":%q}}.`, name, r.Price, years, r.Domain)
}

// namesIn returns the domain names in the texts of a message.
func namesIn(m *a2a.Message) (out []string) {
	words := maxWordsInText
	for _, part := range m.Parts {
		for _, word := range nameInText.FindAllString(part.Text(), words) {
			words--
			name, err := deed.ParseName(strings.Trim(word, "-"))
			if err == nil && !slices.Contains(out, string(name)) && len(out) < maxNamesInText {
				out = append(out, string(name))
			}
		}
	}
	return out
}

// hasOnlyText reports whether a message is text and nothing else.
func hasOnlyText(m *a2a.Message) bool {
	return m != nil && m.TaskID == "" && len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p *a2a.Part) bool { return p.Text() == "" })
}
