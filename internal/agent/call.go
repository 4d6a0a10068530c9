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

// A Caller carries out calls of the HTTP interface. It must be safe for
// concurrent use. An answer that refuses is no error: an error means that there
// is no answer.
type Caller interface {
	Call(ctx context.Context, c Call) (Answer, error)
}

// A Call is one call of the HTTP interface.
type Call struct {
	Method  string
	Path    string // escaped
	Query   url.Values
	Body    []byte // JSON; nil without one
	Bearer  string // access token; "" without one
	Payment Payment
	From    Origin

	Paid     bool // it may cost money
	SignedIn bool // it needs a sign-in, also where Bearer is empty
}

// An Origin is where a call comes from, for whom it is counted.
type Origin struct {
	RemoteAddr   string   // of the connection, as net/http has it
	ForwardedFor []string // what proxies said
}

// OriginOf returns where a request comes from.
func OriginOf(r *http.Request) Origin {
	return Origin{r.RemoteAddr, r.Header.Values("X-Forwarded-For")}
}

// An Answer is what the HTTP interface said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // JSON
}

// Done reports whether it did what it was asked to.
func (a Answer) Done() bool { return a.Status < 300 }

// edit changes the body of an answer that is done. A body that is not ours to
// read stays as it is.
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

// refused is the answer to arguments that make no call.
func refused(field, format string, args ...any) Answer {
	reason := fmt.Sprintf(format, args...)
	body := api.Error{Error: "Invalid request", Message: field + ": " + reason, Code: string(deed.CodeValidation), Details: []api.Detail{{Field: field, Reason: reason}}}
	raw, _ := wirejson.Marshal(body) // it has strings only, and no text makes it fail
	return Answer{Status: http.StatusBadRequest, Header: http.Header{}, Body: raw}
}

// arguments are what an agent wrote, by name. null is the same as nothing.
type arguments map[string]jsontext.Value

func (a arguments) text(name string) (string, bool) {
	var s string
	return s, a[name] != nil && json.Unmarshal(a[name], &s) == nil
}

// read reads the arguments of a tool and returns why they cannot be its.
func (t Tool) read(raw []byte) (arguments, *Answer) {
	args := arguments{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			no := refused("arguments", "must be one JSON object without a name twice")
			return nil, &no
		}
	}
	maps.DeleteFunc(args, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, known := t.argument(name); !known {
			no := refused(name, "%s takes no such argument: it takes %s", t.Name, t.names())
			return nil, &no
		}
	}
	for _, a := range t.Arguments {
		if a.Required && args[a.Name] == nil {
			no := refused(a.Name, "is needed%s", t.about(a.Name))
			return nil, &no
		}
	}
	return args, args.checkDesk()
}

// texts are how those texts are written that no call will look at: a token as in
// RFC 6750, 2.1, and a wallet. What is no wallet never gets into a message that
// somebody signs.
var texts = map[string]struct {
	pattern *regexp.Regexp
	words   string
}{
	argToken:   {regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`), "the accessToken that sign_in gave, as it is"},
	argAddress: {regexp.MustCompile(`^0x[0-9A-Fa-f]{40}$`), "0x and 40 hexadecimal digits"},
}

// checkDesk looks at them.
func (a arguments) checkDesk() *Answer {
	for name, want := range texts {
		if s, ok := a.text(name); a[name] != nil && (!ok || !want.pattern.MatchString(s)) {
			no := refused(name, "cannot be %s: send %s", short(a[name]), want.words)
			return &no
		}
	}
	return nil
}

// short is as much of a value as its sender needs to see of it again.
func short(v jsontext.Value) string {
	const most = 64
	if len(v) <= most {
		return v.String()
	}
	return strings.ToValidUTF8(string(v[:most]), "") + "…"
}

// call turns arguments into the tool's call.
func (t Tool) call(args arguments) (Call, *Answer) {
	c := Call{Method: t.Method, Path: t.Path, Query: url.Values{}, Paid: t.Paid, SignedIn: t.Bearer}
	body := map[string]jsontext.Value{}
	for _, a := range t.Arguments {
		v := args[a.Name]
		switch {
		case v == nil || a.In == AtDesk:
		case a.In == InBody:
			body[a.Field] = v
		default:
			text, ok := plain(v, a.List)
			if !ok || a.In == InPath && text == "" {
				no := refused(a.Name, "cannot be %s%s", short(v), t.about(a.Name))
				return Call{}, &no
			}
			if a.In == InQuery {
				c.Query.Set(a.Field, text)
			}
			c.Path = strings.ReplaceAll(c.Path, "{"+a.Field+"}", url.PathEscape(text))
		}
	}
	if t.hasBody() {
		c.Body, _ = wirejson.Marshal(body) // its parts were read as JSON
	}
	return c, nil
}

func (t Tool) hasBody() bool {
	return slices.ContainsFunc(t.Arguments, func(a Argument) bool { return a.In == InBody })
}

// plain writes a value as a path or a query has it.
func plain(v jsontext.Value, list bool) (string, bool) {
	if list && v.Kind() == '[' {
		var items []string
		err := json.Unmarshal(v, &items)
		return strings.Join(items, ","), err == nil
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
