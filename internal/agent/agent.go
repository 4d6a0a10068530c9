// Package agent is the table of tools that agents can use. The adapters mcp and
// a2a expose it.
//
// A row of the table (table.go) names a call of the HTTP interface and describes
// its purpose. Everything else comes from api/openapi.yaml: the arguments and
// where they go, the response, whether it needs a sign-in or a payment
// (openapi.go). So there is one source of truth, and the table cannot drift from
// it.
//
// An Executor runs a tool: it turns arguments into a Call, passes that to a
// Caller and, if asked to, waits for the job that the call started. The Caller is
// the HTTP interface itself, in this process (handler.go) or remote.
// Invariant: a tool can do no more than its HTTP call. Rate limits, the order of
// checks and what a payment buys are decided there, and the address of the caller is
// the one that is counted. An error has a next step for programs (api.Next); next.go
// has its words for agents.
package agent

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Tool is one thing an agent can do: one call of the HTTP interface.
type Tool struct {
	Name        string
	Title       string
	Purpose     string // what it does
	Description string // Purpose, and how a client that sends payments pays for it

	Method    string
	Path      string // with {parts} that arguments fill
	Arguments []Argument

	Input  jsontext.Value // JSON schema of the arguments
	Output jsontext.Value // JSON schema of the answer, including errors

	ReadOnly    bool // it changes nothing
	Destructive bool // it changes or deletes existing data, or spends money
	Idempotent  bool // the same call again has no further effect
	Paid        bool // it may cost money
	Bearer      bool // it needs a sign-in
	Waits       bool // it takes wait_seconds
	Sandbox     bool // only a sandbox has it
	OnCard      bool // the agent card lists it

	Example string // arguments as JSON

	siblings []string // values of the last part of Path that are paths of other calls
	question string   // what a local user is asked first; optional

	finish func(args arguments, e *Executor, a Answer) Answer // post-processes the answer; optional
}

// A Place is where an argument goes in a call.
type Place string

// The places of arguments. InText is the whole body of a call that takes plain
// text. InExecutor marks those that the Executor handles itself and does not send.
const (
	InPath     Place = "path"
	InQuery    Place = "query"
	InBody     Place = "body"
	InText     Place = "text"
	InExecutor Place = "executor"
)

// An Argument is a parameter of a tool.
type Argument struct {
	Name     string // for agents: max_price_usd
	Field    string // in the HTTP call: maxPriceUsd
	In       Place
	List     bool // an array that the HTTP call takes comma-separated
	Required bool
}

// argDryRun asks for a quote.
const argDryRun = "dry_run"

// TokenArgument has the access token of a call that needs a sign-in.
const TokenArgument = argToken

// Arguments that are not part of an HTTP call.
const (
	argWait    = "wait_seconds"
	argToken   = "access_token"
	argAddress = "address"
)

// Tools returns the table. Tools that only a sandbox has are left out unless
// sandbox is true.
func Tools(sandbox bool) []Tool {
	return slices.DeleteFunc(slices.Clone(tools()), func(t Tool) bool { return t.Sandbox && !sandbox })
}

// Find returns the tool with the given name.
func Find(name string) (Tool, bool) {
	all := tools()
	i := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return all[i], true
}

// argument returns the argument with the given name.
func (t Tool) argument(name string) (Argument, bool) {
	i := slices.IndexFunc(t.Arguments, func(a Argument) bool { return a.Name == name })
	if i < 0 {
		return Argument{}, false
	}
	return t.Arguments[i], true
}

// names lists the arguments of a tool.
func (t Tool) names() string {
	names := make([]string, len(t.Arguments))
	for i, a := range t.Arguments {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

// about returns the note of an argument, after a colon.
func (t Tool) about(name string) string {
	if text := note(t.Name, name); text != "" {
		return ": " + text
	}
	return ""
}

// WithoutArgument returns the tool without an argument in its schema. The argument
// is accepted all the same.
func (t Tool) WithoutArgument(name string) Tool {
	var in schema
	if json.Unmarshal(t.Input, &in) != nil {
		return t
	}
	if fields, ok := in["properties"].(schema); ok {
		delete(fields, name)
	}
	if raw, err := json.Marshal(in, json.Deterministic(true)); err == nil {
		t.Input = raw
	}
	return t
}

// Quotes reports whether the tool can return its price in a dry run.
func (t Tool) Quotes() bool {
	_, can := t.argument(argDryRun)
	return t.Paid && can
}
