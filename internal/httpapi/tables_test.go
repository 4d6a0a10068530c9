package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/interfacedoc"
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
