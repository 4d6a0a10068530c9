// Package interfacedoc parses the tables of the interface document, so that tests
// can compare the implementation with them: the routes of chapter 4, the codes of
// chapter 7, the limits of chapter 8 and the fields of chapter 2.
//
// interface.md is the document, byte for byte. It never changes, so these functions
// panic if a table cannot be parsed.
package interfacedoc

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed interface.md
var document string

// A Route is one row of the endpoint table (chapter 4).
type Route struct {
	Method, Path string
	Bearer       bool
	Answers      []Answer // the statuses in the row, in its order
	Priced       bool     // the row has a price per call
}

// Endpoint returns the method and the path, as "GET /auth/nonce".
func (r Route) Endpoint() string { return r.Method + " " + r.Path }

// An Answer is a status in a row with its error codes.
type Answer struct {
	Status int
	Codes  []string
}

// Routes returns the endpoints in the order of the document.
func Routes() []Route {
	var routes []Route
	for _, row := range rows("## 4. Endpoints") {
		routes = append(routes, Route{
			Method:  row["Method"],
			Path:    strings.Trim(row["Path"], "`"),
			Bearer:  row["Auth"] == "bearer",
			Answers: answers(row["Response"]),
			Priced:  strings.HasPrefix(row["Response"], "Priced at "),
		})
	}
	return routes
}

var codeWord = regexp.MustCompile(`[A-Z]+(_[A-Z]+)+`)

// answers parses "200 nonce object (2.1); 400 VALIDATION_ERROR; 429".
func answers(text string) []Answer {
	var all []Answer
	for clause := range strings.SplitSeq(text, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(clause), " ")
		if status, err := strconv.Atoi(word); err == nil {
			all = append(all, Answer{status, codeWord.FindAllString(rest, -1)})
		}
	}
	return all
}

// A Code is one row of the error tables (chapter 7).
type Code struct {
	Code   string
	Status int
}

// Codes returns the client errors and then the server errors.
func Codes() []Code {
	var codes []Code
	for _, row := range append(rows("### Client errors"), rows("### Server errors")...) {
		codes = append(codes, Code{row["Code"], number(row["HTTP status"])})
	}
	return codes
}

// A Limit is one row of the limit table (chapter 8).
type Limit struct {
	Endpoints []string // in the format of Route.Endpoint
	Max       int
	Window    time.Duration
	PerWallet bool // counted per wallet; otherwise per address
}

// Limits returns the limit of each group of endpoints.
func Limits() []Limit {
	var limits []Limit
	for _, row := range rows("## 8. Limits") {
		limits = append(limits, Limit{
			Endpoints: group(row["Endpoint group"]),
			Max:       number(strings.TrimSuffix(row["Limit"], " requests")),
			Window:    window(row["Window"]),
			PerWallet: row["Counted per"] == "wallet address",
		})
	}
	return limits
}

// Unlimited returns the endpoints that rule 3 of chapter 8 exempts from limits.
func Unlimited() []string {
	_, rule, ok := strings.Cut(document, "\n3. No rate limit applies to: ")
	if !ok {
		panic("interfacedoc: chapter 8 has no rule 3")
	}
	rule, _, _ = strings.Cut(rule, "\n")
	return group(strings.TrimSuffix(rule, "."))
}

var (
	groupPart   = regexp.MustCompile("`([^`]+)`(?: \\(([A-Z, ]+)\\))?")
	windowUnits = map[string]time.Duration{"1 minute": time.Minute, "1 hour": time.Hour, "1 day": 24 * time.Hour}
)

// group returns the endpoints that match text: "`GET /account/*`" is every GET at
// /account and below it, "`/dns/*` (GET, PUT)" has its methods in parentheses.
func group(text string) []string {
	var endpoints []string
	for _, m := range groupPart.FindAllStringSubmatch(text, -1) {
		method, path, ok := strings.Cut(m[1], " ")
		if !ok {
			method, path = m[2], m[1]
		}
		endpoints = append(endpoints, matching(strings.Split(method, ", "), path)...)
	}
	return endpoints
}

func matching(methods []string, path string) []string {
	var endpoints []string
	top, wild := strings.CutSuffix(path, "/*")
	for _, r := range Routes() {
		same := r.Path == path || wild && (r.Path == top || strings.HasPrefix(r.Path, top+"/"))
		if same && slices.Contains(methods, r.Method) {
			endpoints = append(endpoints, r.Endpoint())
		}
	}
	if len(endpoints) == 0 {
		panic(fmt.Sprintf("interfacedoc: no endpoint is %s %s", methods, path))
	}
	return endpoints
}

func window(text string) time.Duration {
	d, ok := windowUnits[text]
	if !ok {
		panic("interfacedoc: unknown window " + text)
	}
	return d
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("interfacedoc: " + err.Error())
	}
	return n
}
