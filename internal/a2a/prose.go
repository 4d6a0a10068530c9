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

// maxNamesInText limits how many names in a text are checked.
const maxNamesInText = 5

// nameInText finds what may be a domain name in a text.
var nameInText = regexp.MustCompile(`(?i)\b[a-z0-9-]{1,63}(?:\.[a-z0-9-]{2,63})+\b`)

// answerText answers a message without a data part. There is no language model
// behind it: it checks the names in the text, and says what to send to buy one. A
// text without names gets the format of requests.
func (c *requestHandler) answerText(ctx context.Context, m *a2a.Message) *a2a.Message {
	names := namesIn(m)
	if len(names) == 0 {
		return c.help(m, "I do not understand free text.")
	}
	tool, _ := agent.Find("check_domains")
	args, err := wirejson.Marshal(map[string]any{"domains": names})
	if err != nil {
		return c.help(m, "I do not understand free text.")
	}
	a, err := c.Executor.Do(ctx, tool, agent.Request{Arguments: args, From: c.from})
	var found api.CheckResult
	if err != nil || !a.Done() || json.Unmarshal(a.Body, &found) != nil {
		return c.help(m, "I do not understand free text.")
	}
	text := "I do not understand free text, but I found names in it."
	for _, r := range found.Results {
		text += " " + sentence(r)
	}
	return c.help(m, text)
}

// sentence says whether a name is available, and how to buy it.
func sentence(r api.Found) string {
	if !r.Available {
		return fmt.Sprintf("%s is not available (%s).", r.Domain, r.Reason)
	}
	return fmt.Sprintf(`%s is available and costs %s USDC for the first year; to buy it, send {"skill":"register_domain","arguments":{"domain":%q}}.`, r.Domain, r.Price, r.Domain)
}

// namesIn returns the domain names in the texts of a message.
func namesIn(m *a2a.Message) []string {
	var out []string
	for _, part := range m.Parts {
		for _, word := range nameInText.FindAllString(part.Text(), -1) {
			name, err := deed.ParseName(strings.ToLower(word))
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
