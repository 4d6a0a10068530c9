package agent

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/wirejson"
)

// A Caller makes calls of the HTTP interface. It must be safe for concurrent use.
// An error response is an Answer; an error means that there was no response.
type Caller interface {
	Call(ctx context.Context, c Call) (Answer, error)
}

// A Call is one call of the HTTP interface.
type Call struct {
	Method  string
	Path    string // escaped
	Query   url.Values
	Body    []byte // JSON, unless Text is set; nil without one
	Text    bool   // the body is a zone file
	Bearer  string // access token; "" without one
	Payment Payment
	Agreed  string // the price in USDC that the user agreed to, when asked for this call
	From    Origin

	Paid     bool // it may cost money
	Asks     bool // the user can be asked
	SignedIn bool // it needs a sign-in, even if Bearer is empty

	// Question is what a user with a local wallet must agree to first, because the
	// call can lose a name; "" for other calls.
	Question string
}

// An Origin is the address of the caller, which rate limits count.
type Origin struct {
	RemoteAddr   string   // of the connection, as in http.Request
	ForwardedFor []string // X-Forwarded-For
}

// OriginOf returns the origin of a request.
func OriginOf(r *http.Request) Origin {
	return Origin{r.RemoteAddr, r.Header.Values("X-Forwarded-For")}
}

// An Answer is a response of the HTTP interface.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // JSON

	// Question is set if nothing was done because the user has to agree to a price
	// first. The call can be made again with the price as Agreed.
	Question *Question
}

// A Question is what the user is asked before money is spent.
type Question struct {
	Price string // in USDC
	Text  string
}

// Done reports whether the call succeeded.
func (a Answer) Done() bool { return a.Status < 300 }

// edit changes the body of a successful answer. A body that is not a JSON object
// is left unchanged.
func (a Answer) edit(change func(body map[string]any)) Answer {
	var body map[string]any
	if !a.Done() || json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	change(body)
	if raw, err := wirejson.Marshal(body); err == nil {
		a.Body = raw
	}
	return a
}

// refused returns the answer to invalid arguments.
func refused(field, format string, args ...any) Answer {
	reason := fmt.Sprintf(format, args...)
	body := api.Error{Error: "Invalid request", Message: field + ": " + reason, Code: string(deed.CodeValidation), Details: []api.Detail{{Field: field, Reason: reason}}}
	raw, _ := wirejson.Marshal(body) // strings cannot make it fail
	return Answer{Status: http.StatusBadRequest, Header: http.Header{}, Body: raw}
}

// arguments are the arguments of a tool call by name. null means absent.
type arguments map[string]jsontext.Value

func (a arguments) text(name string) (string, bool) {
	var s string
	return s, a[name] != nil && json.Unmarshal(a[name], &s) == nil
}

// read parses and checks the arguments of a tool. If they are invalid, it returns
// the answer.
func (t Tool) read(raw []byte) (arguments, *Answer) {
	args := arguments{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			rejected := refused("arguments", "must be one JSON object without a name twice")
			return nil, &rejected
		}
	}
	for name, v := range args {
		if v.Kind() == '0' && v.Canonicalize() == nil { // 2.0 becomes 2: some agents have no other numbers than floats
			args[name] = v
		}
	}
	maps.DeleteFunc(args, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, known := t.argument(name); !known {
			rejected := refused(name, "%s takes no such argument: it takes %s", t.Name, t.names())
			return nil, &rejected
		}
	}
	for _, a := range t.Arguments {
		if a.Required && args[a.Name] == nil {
			rejected := refused(a.Name, "is needed%s", t.about(a.Name))
			return nil, &rejected
		}
	}
	return args, args.checkExecutorArguments()
}

// texts are the formats of string arguments that no HTTP call would check: a
// token (RFC 6750, 2.1) and a wallet, which becomes part of a message to sign.
var texts = map[string]struct {
	pattern *regexp.Regexp
	words   string
}{
	argToken:   {regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`), "the accessToken that sign_in gave, as it is"},
	argAddress: {regexp.MustCompile(`^0x[0-9A-Fa-f]{40}$`), "0x and 40 hexadecimal digits"},
}

// checkExecutorArguments checks the arguments against texts.
func (a arguments) checkExecutorArguments() *Answer {
	for name, want := range texts {
		if s, ok := a.text(name); a[name] != nil && (!ok || !want.pattern.MatchString(s)) {
			rejected := refused(name, "cannot be %s: send %s", short(a[name]), want.words)
			return &rejected
		}
	}
	return nil
}

// short returns a value for an error message, truncated if it is long.
func short(v jsontext.Value) string {
	const limit = 64
	if len(v) <= limit {
		return v.String()
	}
	return strings.ToValidUTF8(string(v[:limit]), "") + "…"
}

// call turns arguments into the tool's HTTP call.
func (t Tool) call(args arguments) (Call, *Answer) {
	c := Call{Method: t.Method, Path: t.Path, Query: url.Values{}, Paid: t.Paid, SignedIn: t.Bearer, Question: t.question}
	body := map[string]jsontext.Value{}
	for _, a := range t.Arguments {
		v := args[a.Name]
		switch {
		case v == nil || a.In == InExecutor:
		case a.In == InBody:
			body[a.Field] = v
			c.Question = strings.ReplaceAll(c.Question, "{"+a.Name+"}", strings.Trim(short(v), `"`))
		default:
			text, ok := plain(v, a.List)
			if !ok || text == "" && a.List && a.Required || a.In == InPath && t.elsewhere(text) {
				rejected := refused(a.Name, "cannot be %s%s", short(v), t.about(a.Name))
				return Call{}, &rejected
			}
			c.place(a, text)
			c.Question = strings.ReplaceAll(c.Question, "{"+a.Name+"}", text)
		}
	}
	if t.hasBody() {
		c.Body, _ = wirejson.Marshal(body) // its members are valid JSON
	}
	return c, nil
}

// elsewhere reports whether the call would be another one with this text in its path:
// /domains/pricing instead of a name, or the path above for two dots.
func (t Tool) elsewhere(text string) bool {
	return text == "" || text == "." || text == ".." || slices.Contains(t.siblings, text)
}

// place puts the text of an argument where it belongs.
func (c *Call) place(a Argument, text string) {
	switch a.In {
	case InQuery:
		c.Query.Set(a.Field, text)
	case InText:
		c.Body, c.Text = []byte(text), true
	default:
		c.Path = strings.ReplaceAll(c.Path, "{"+a.Field+"}", url.PathEscape(text))
	}
}

func (t Tool) hasBody() bool {
	return slices.ContainsFunc(t.Arguments, func(a Argument) bool { return a.In == InBody })
}

// plain formats a value for a path or a query.
func plain(v jsontext.Value, list bool) (string, bool) {
	if list && v.Kind() == '[' {
		var items []string
		err := json.Unmarshal(v, &items)
		joined := strings.Join(items, ",")
		return joined, err == nil && strings.Count(joined, ",") == max(len(items)-1, 0) // a comma in an item would make two of it
	}
	switch v.Kind() {
	case '"':
		var s string
		err := json.Unmarshal(v, &s)
		return s, err == nil
	case '0', 't', 'f':
		return v.String(), true
	}
	return "", false
}
