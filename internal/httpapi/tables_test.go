package httpapi

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/interfacedoc"
	"deed.example/deed/internal/openapi"
)

// The routes of the interface document come first, in its order.
func TestRoutesAreThoseOfTheInterfaceDocument(t *testing.T) {
	var got []string
	for _, r := range (&Server{}).routes() {
		got = append(got, r.pattern)
	}
	var want []string
	for _, r := range interfacedoc.Routes() {
		want = append(want, r.Endpoint())
	}
	if len(want) < 20 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// docs/routes.md lists every route, in the same order, with what the API reference says of it.
// One is only for what RDAP does not know.
func TestRoutesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/routes.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]+ /[^`]*)` \\|").FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[1])
	}
	for _, r := range (&Server{}).routes() {
		if r.pattern != "GET /rdap/{question...}" {
			want = append(want, r.pattern)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	reference, err := openapi.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range reference.Operations {
		summary := op.Object["summary"].(string)
		row := "| `" + op.Method + " " + op.Path + "` | " + strings.ToLower(summary[:1]) + strings.TrimSuffix(summary[1:], ".")
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/routes.md does not say: %s", row)
		}
	}
}

func TestCodesAreThoseOfTheInterfaceDocument(t *testing.T) {
	want := interfacedoc.Codes()
	for _, c := range want {
		if got := statuses[deed.Code(c.Code)].status; got != c.Status {
			t.Errorf("%s: got %d, want %d", c.Code, got, c.Status)
		}
		if statuses[deed.Code(c.Code)].title == "" {
			t.Errorf("%s has no title", c.Code)
		}
	}
	if len(statuses) != len(want) {
		t.Errorf("got %d codes, want %d: the table is closed", len(statuses), len(want))
	}
}

func TestLimitsAreThoseOfTheInterfaceDocument(t *testing.T) {
	type figures struct {
		max    int
		window time.Duration
	}
	l := deed.DefaultLimits()
	got := map[figures]int{}
	for _, lim := range []deed.Limit{l.Search, l.Register, l.DNS, l.Account, l.SignIn} {
		got[figures{lim.Max, lim.Window}]++
	}
	want := map[figures]int{}
	for _, lim := range interfacedoc.Limits() {
		want[figures{lim.Max, lim.Window}]++
	}
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for f, n := range want {
		if got[f] != n {
			t.Errorf("%d in %s: got %d limits, want %d", f.max, f.window, got[f], n)
		}
	}
	if !l.Register.Durable {
		t.Error("the daily window does not survive a restart")
	}
}

// The examples of errors in openapi.yaml have the titles that are served.
func TestTitlesAreThoseOfTheExamples(t *testing.T) {
	d, err := openapi.Read()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
			title, ok := v["error"].(string)
			code, coded := v["code"].(string)
			if !ok || !coded {
				return
			}
			found++
			if !slices.Contains(titlesOf(v, deed.Code(code)), title) {
				t.Errorf("got %q for %s: %v", title, code, v)
			}
		}
	}
	walk(d.Root)
	if found < 20 {
		t.Errorf("got %d examples of errors", found)
	}
}

// titlesOf returns the titles that an error with the code may have.
func titlesOf(body map[string]any, code deed.Code) []string {
	if status, ok := body["errorCode"].(int); ok {
		return []string{http.StatusText(status)} // RDAP
	}
	out := []string{statuses[code].title}
	for status, c := range refusals {
		if c == code && status != statuses[c].status {
			out = append(out, http.StatusText(status))
		}
	}
	return out
}
