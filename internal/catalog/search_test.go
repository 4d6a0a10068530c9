package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// registry is a fake registrar: every name is available unless an answer is set for
// it. It counts its calls, and blocks them while its gate is closed.
type registry struct {
	mu      sync.Mutex // guards answers
	answers map[deed.Name]registrar.Availability
	gate    chan struct{}  // nil for an open gate
	began   chan deed.Name // receives the name of every call, unless nil
	deaf    bool           // ignores the cancellation of its context

	calls, open, maxOpen atomic.Int64
}

var errSilent = errors.New("the registry did not reply")

func (r *registry) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	r.calls.Add(1)
	defer r.open.Add(-1)
	for now := r.open.Add(1); ; {
		highest := r.maxOpen.Load()
		if now <= highest || r.maxOpen.CompareAndSwap(highest, now) {
			break
		}
	}
	if r.began != nil {
		r.began <- name
	}
	done := ctx.Done()
	if r.deaf {
		done = nil
	}
	if r.gate != nil {
		select {
		case <-r.gate:
		case <-done:
			return registrar.Availability{}, ctx.Err()
		}
	}
	return r.answer(name)
}

func (r *registry) answer(name deed.Name) (registrar.Availability, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.answers[name]
	if !ok {
		return registrar.Availability{Available: true}, nil
	}
	if a.Reason == "silent" {
		return registrar.Availability{Available: true}, errSilent // an error never means available
	}
	return a, nil
}

func (r *registry) set(name deed.Name, a registrar.Availability) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[deed.Name]registrar.Availability{}
	}
	r.answers[name] = a
}

// sold is the names that are sold here, or being bought.
type sold map[deed.Name]error

func (s sold) Taken(_ context.Context, names []deed.Name, _ deed.Wallet) (taken []deed.Name, err error) {
	for _, name := range names {
		if failure, ok := s[name]; ok {
			taken, err = append(taken, name), errors.Join(err, failure)
		}
	}
	return taken, err
}

// A name that is being bought is taken although the registrar, or its cached answer,
// says that it is available. When this cannot be read, nothing is called available.
func TestBeingBoughtIsTaken(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	if got := s.find(t, "example", "com", "net"); got != "13.06 14.74" {
		t.Errorf("got %s", got)
	}
	s.Names = sold{"example.com": nil}
	if got := s.find(t, "example", "com", "net"); got != "taken 14.74" || r.calls.Load() != 2 {
		t.Errorf("got %s after %d calls", got, r.calls.Load())
	}
	if results, err := s.Check(t.Context(), []deed.Name{"example.com"}); err != nil || len(results) != 1 || results[0] != (Result{Domain: "example.com", TLD: "com", Reason: Taken}) {
		t.Errorf("got %+v, %v", results, err)
	}
	s.Names = sold{}
	if got := s.find(t, "example", "com"); got != "13.06" {
		t.Errorf("after the order failed: got %s", got)
	}
	s.Names = sold{"example.com": errors.New("no database")}
	if results, err := s.Check(t.Context(), []deed.Name{"example.com"}); err == nil {
		t.Errorf("got %+v", results)
	}
}

func searcher(t *testing.T, r Checker) *Searcher {
	t.Helper()
	now := time.Now()
	return &Searcher{
		Prices: open(t, DefaultPricing()), Registrar: r, Names: sold{}, CacheTTL: time.Hour, Timeout: time.Minute, MaxParallel: 16, Slots: make(chan struct{}, 64),
		OnError: func(error) {}, Now: func() time.Time { return now },
	}
}

// find searches for the label under the TLDs and returns the reasons, or the
// price of what is available.
func (s *Searcher) find(t *testing.T, label string, tlds ...deed.TLD) string {
	t.Helper()
	var under []Listing
	for _, tld := range tlds {
		l, err := s.Prices.Listing(tld)
		if err != nil {
			t.Error(err)
		}
		under = append(under, l)
	}
	results, err := s.Search(t.Context(), label, under)
	words := inWords(results)
	nothing := strings.Trim(words, "unkow ") == ""
	if nothing && deed.CodeOf(err) != deed.CodeUnavailable || !nothing && err != nil {
		t.Errorf("%s: %v", words, err)
	}
	return words
}

// A search or check without any answer fails; one with at least one answer does not.
func TestNothingCouldBeChecked(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	for _, name := range []deed.Name{"example.com", "example.net", "example.ai"} {
		r.set(name, registrar.Availability{Reason: "silent"})
	}
	r.set("other.com", registrar.Availability{Reason: "taken"})
	for _, tt := range []struct {
		names []deed.Name
		want  string
		code  deed.Code
	}{
		{[]deed.Name{"example.com"}, "unknown", deed.CodeUnavailable},
		{[]deed.Name{"example.com", "example.net"}, "unknown unknown", deed.CodeUnavailable},
		{[]deed.Name{"example.com", "other.com"}, "unknown taken", ""},
		{[]deed.Name{"example.com", "free.com"}, "unknown 13.06", ""},
		{[]deed.Name{"example.com", "xn--bcher-kva.ai"}, "unknown invalid", ""},
		{[]deed.Name{"xn--bcher-kva.ai"}, "invalid", ""},
		{nil, "", ""},
	} {
		results, err := s.Check(t.Context(), tt.names)
		if got := inWords(results); got != tt.want || deed.CodeOf(err) != tt.code {
			t.Errorf("%v: got %s, %v, want %s, %q", tt.names, got, err, tt.want, tt.code)
		}
		if e, ok := errors.AsType[*deed.Error](err); ok && e.Retry == 0 {
			t.Errorf("%v: it has no retry delay", tt.names)
		}
	}
	if got := s.find(t, "-example", "com", "net"); got != "invalid invalid" {
		t.Errorf("an invalid label: got %s", got)
	}
}

func inWords(results []Result) string {
	var words []string
	for _, r := range results {
		word := r.Reason
		if r.Available {
			word += r.Offer.Registration.String()
		}
		if r.Premium {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestSearch(t *testing.T) {
	r := &registry{}
	r.set("example.com", registrar.Availability{Reason: "taken"})
	r.set("example.net", registrar.Availability{Reason: "reserved"})
	r.set("example.org", registrar.Availability{Reason: "silent"})
	r.set("example.io", registrar.Availability{Available: true, Premium: true, Wholesale: 250_000_000})
	r.set("example.dev", registrar.Availability{Available: true, Premium: true, Wholesale: 2_500_000_000}) // above the ceiling, and listed
	r.set("example.app", registrar.Availability{Available: true, Premium: true})                           // for nothing: a mistake
	r.set("example.me", registrar.Availability{})                                                          // no, and no reason
	s := searcher(t, r)
	missed := 0
	s.OnError, s.MaxParallel = func(error) { missed++ }, 1
	const want = "taken reserved unknown 300.50! 3000.50! unknown unknown 18.50 96.50"
	if got := s.find(t, "Example", "com", "net", "org", "io", "dev", "app", "me", "co", "ai"); got != want || missed != 2 {
		t.Errorf("got %s and %d missed, want %s and 2", got, missed, want)
	}
	for label, want := range map[string]string{
		"-a":            "invalid invalid",
		"a-":            "invalid invalid",
		"ab--cd":        "invalid invalid",
		"xn--a":         "invalid invalid",
		"XN--BCHER-KVA": "13.06 invalid", // .ai takes ASCII only
	} {
		if got := s.find(t, label, "com", "ai"); got != want {
			t.Errorf("%s: got %s, want %s", label, got, want)
		}
	}
}

func TestInvalidQueries(t *testing.T) {
	s := searcher(t, &registry{})
	for _, query := range []string{"", "a.b", ".", "a_b", "a b", "é", "a\x00", "a\n", "*", "\u202ea", "a/b", strings.Repeat("a", 64), "\xff"} {
		if results, err := s.Search(t.Context(), query, s.Prices.Standard()); deed.CodeOf(err) != deed.CodeValidation || results != nil {
			t.Errorf("%q: got %v, %v", query, results, err)
		}
	}
	if got := s.find(t, strings.Repeat("a", 63), "com"); got != "13.06" {
		t.Errorf("63 letters: got %s", got)
	}
}

func TestCheck(t *testing.T) {
	r := &registry{}
	r.set("taken.com", registrar.Availability{Reason: "taken"})
	s := searcher(t, r)
	results, err := s.Check(t.Context(), []deed.Name{"free.com", "taken.com", "xn--bcher-kva.ai", "free.dev"})
	if got := inWords(results); err != nil || got != "13.06 taken invalid 15.14" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := s.Check(t.Context(), []deed.Name{"free.com", "free.co.uk"}); deed.CodeOf(err) != deed.CodeTLDNotSupported || r.calls.Load() != 3 {
		t.Errorf("got %v after %d calls", err, r.calls.Load())
	}
}

func TestStandardSet(t *testing.T) {
	if got := len(open(t, DefaultPricing()).Standard()); got != 10 {
		t.Errorf("got %d TLDs, want 10", got)
	}
}

// An answer is cached for the TTL, and no longer.
func TestAnswersAreCached(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	now := s.Now()
	s.Now, s.CacheTTL = func() time.Time { return now }, 3*time.Second
	s.find(t, "example", "com")
	r.set("example.com", registrar.Availability{Reason: "taken"})
	now = now.Add(3*time.Second - 1)
	if got := s.find(t, "example", "com"); got != "13.06" || r.calls.Load() != 1 {
		t.Errorf("a moment later: got %s after %d calls", got, r.calls.Load())
	}
	now = now.Add(1)
	if got := s.find(t, "example", "com"); got != "taken" {
		t.Errorf("three seconds later: got %s", got)
	}
	r.set("example.com", registrar.Availability{Available: true})
	if got := s.find(t, "example", "com"); got != "taken" || r.calls.Load() != 2 {
		t.Errorf("an unavailable name is cached too: got %s after %d calls", got, r.calls.Load())
	}
	now = now.Add(-time.Second) // a clock that was set back
	if got := s.find(t, "example", "com"); got != "13.06" {
		t.Errorf("an answer from the future: got %s", got)
	}
}

// A name without an answer is queried again.
func TestMissingAnswersAreNotCached(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	r.set("example.com", registrar.Availability{Reason: "silent"})
	if got := s.find(t, "example", "com"); got != "unknown" {
		t.Errorf("got %s", got)
	}
	r.set("example.com", registrar.Availability{Available: true})
	if got := s.find(t, "example", "com"); got != "13.06" {
		t.Errorf("got %s", got)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var r recent
	now := time.Now()
	for i := range 3*maxRecent + 1 {
		r.add(map[deed.Name]registrar.Availability{deed.Name(fmt.Sprintf("name%d.com", i)): {}}, now, time.Hour)
	}
	if len(r.young) != 1 || len(r.old) != maxRecent {
		t.Errorf("got %d and %d names", len(r.young), len(r.old))
	}
	last := deed.Name(fmt.Sprintf("name%d.com", 3*maxRecent-1)) // of the older generation
	if known, _ := r.find([]deed.Name{last}, now, time.Hour); len(known) != 1 {
		t.Error("the older generation is lost")
	}
	r.add(map[deed.Name]registrar.Availability{"late.com": {}}, now.Add(time.Hour), time.Hour)
	r.add(map[deed.Name]registrar.Availability{"later.com": {}}, now.Add(2*time.Hour), time.Hour)
	if len(r.young)+len(r.old) != 2 {
		t.Errorf("expired answers are not dropped: got %d and %d names", len(r.young), len(r.old))
	}
}
