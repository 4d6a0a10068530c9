package agent

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
	"deed.example/deed/internal/wirejson"
)

// names lists the arguments of a tool.
func (t Tool) names() string {
	names := make([]string, len(t.Arguments))
	for i, a := range t.Arguments {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// about returns the schema's description of an argument, after a colon.
func (t Tool) about(name string) string {
	var input struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.Input, &input) != nil || input.Properties[name].Description == "" {
		return ""
	}
	return ": " + strings.TrimSpace(input.Properties[name].Description)
}

// signInHint is for an agent without a valid token.
const signInHint = "sign in: sign_in_message with the address of your wallet gives a text, your wallet signs it (personal_sign), and sign_in turns both into an accessToken. " +
	"Send that as the argument access_token, or as Authorization: Bearer."

// rewriteError rewrites an error of the HTTP interface for agents: it replaces
// calls by tools and fields by arguments, so that an agent can follow its advice
// literally.
func (t Tool) rewriteError(a Answer) Answer {
	var body map[string]jsontext.Value // other members stay as they are
	if a.Done() || json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	for _, key := range []string{"message", "hint"} {
		var text string
		if json.Unmarshal(body[key], &text) == nil {
			body[key] = quoted(t.inArguments(inTools(text)))
		}
	}
	var details []api.Detail
	if json.Unmarshal(body["details"], &details) == nil {
		for i, d := range details {
			details[i] = api.Detail{Field: t.inArguments(d.Field), Reason: inTools(d.Reason)}
		}
		body["details"], _ = wirejson.Marshal(details) // strings cannot make it fail
	}
	if a.Status == http.StatusUnauthorized && t.Bearer {
		body["hint"] = quoted(signInHint)
	}
	if raw, err := wirejson.Marshal(body); err == nil {
		a.Body = raw
	}
	return a
}

func quoted(text string) jsontext.Value {
	raw, _ := wirejson.Marshal(text) // strings cannot make it fail
	return raw
}

var mentioned = regexp.MustCompile(`\b(GET|POST|PUT|DELETE) (/[a-z/]*[a-z])`)

// inTools replaces the calls that a text mentions by their tools.
func inTools(text string) string {
	return mentioned.ReplaceAllStringFunc(text, func(call string) string {
		for _, t := range tools() {
			if t.Method+" "+t.Path == call {
				return t.Name
			}
		}
		return call
	})
}

// inArguments replaces a field at the start of a text by its argument.
func (t Tool) inArguments(text string) string {
	for _, a := range t.Arguments {
		rest, found := strings.CutPrefix(text, a.Field)
		if found && a.Field != "" && (rest == "" || strings.ContainsAny(rest[:1], ":[.")) {
			return a.Name + rest
		}
	}
	return text
}
