// Package agent is the one table of what a program that acts for somebody can
// do here. MCP and A2A are two ways to show it.
//
// A row of the table (table.go) names a call of the HTTP interface and says in
// words what it is for. All else is read from api/openapi.yaml: which arguments
// it takes and where they go, what it answers, whether it needs a sign-in or a
// payment (openapi.go). So there is one source of truth, and the table cannot
// drift from it.
//
// A Desk carries a tool out: it turns arguments into a Call, hands that to a
// Caller, and where it was asked to, waits for the job behind the answer. The
// Caller is the HTTP interface itself, in this process (handler.go) or far away.
// What must stay true: a tool is never more than its HTTP twin. Limits, the
// order of checks, what a payment buys and how errors read are decided there,
// and the caller's own address is what is counted.
package agent

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A Tool is one thing an agent can do: one call of the HTTP interface.
type Tool struct {
	Name        string
	Title       string
	Purpose     string // what it does
	Description string // that, and how it is paid for by who carries a payment along

	Method    string
	Path      string // with {parts} that arguments fill
	Arguments []Argument

	Input  jsontext.Value // JSON schema of the arguments
	Output jsontext.Value // JSON schema of the answer, and of a refusal

	ReadOnly    bool // it changes nothing
	Destructive bool // it changes or removes what is there, or spends money
	Idempotent  bool // the same call again has no further effect
	Paid        bool // it may cost money
	Bearer      bool // it needs a sign-in
	Waits       bool // it takes wait_seconds

	finish func(args arguments, d *Desk, a Answer) Answer // nil: the answer as it came
}

// A Place is where an argument goes in a call.
type Place string

// The places of arguments. Those at the desk go into no call.
const (
	InPath  Place = "path"
	InQuery Place = "query"
	InBody  Place = "body"
	AtDesk  Place = "desk"
)

// An Argument is one thing a tool takes.
type Argument struct {
	Name     string // as agents write it: max_price_usd
	Field    string // as the call has it: maxPriceUsd
	In       Place
	List     bool // a list that the call has with commas
	Required bool
}

// argDryRun asks for a quote.
const argDryRun = "dry_run"

// Arguments that are no part of a call.
const (
	argWait    = "wait_seconds"
	argToken   = "access_token"
	argAddress = "address"
)

// Tools returns the table.
func Tools() []Tool { return slices.Clone(tools()) }

// Find returns the tool of a name.
func Find(name string) (Tool, bool) {
	all := tools()
	i := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return all[i], true
}

// argument returns the argument of a name.
func (t Tool) argument(name string) (Argument, bool) {
	i := slices.IndexFunc(t.Arguments, func(a Argument) bool { return a.Name == name })
	if i < 0 {
		return Argument{}, false
	}
	return t.Arguments[i], true
}

// Quotes reports whether the tool can tell what it costs without doing it.
func (t Tool) Quotes() bool {
	_, can := t.argument(argDryRun)
	return t.Paid && can
}
