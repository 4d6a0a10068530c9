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

// registry is a small registrar: everything can be bought but what it has an
// answer for. It counts its questions, and holds them while its gate is shut.
type registry struct {
	mu    sync.Mutex // guards said
	said  map[deed.Name]registrar.Availability
	gate  chan struct{}  // nil for an open one
	began chan deed.Name // told of every question, unless nil
	deaf  bool           // it does not hear when a caller gives up

	asked, open, most atomic.Int64
}

var errSilent = errors.New("the registry did not reply")

func (r *registry) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	r.asked.Add(1)
	defer r.open.Add(-1)
	for now := r.open.Add(1); ; {
		most := r.most.Load()
		if now <= most || r.most.CompareAndSwap(most, now) {
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
	return r.look(name)
}

func (r *registry) look(name deed.Name) (registrar.Availability, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.said[name]
	if !ok {
		return registrar.Availability{Available: true}, nil
	}
	if a.Reason == "silent" {
		return registrar.Availability{Available: true}, errSilent // an error is never a yes
	}
	return a, nil
}

func (r *registry) say(name deed.Name, a registrar.Availability) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = map[deed.Name]registrar.Availability{}
	}
	r.said[name] = a
}

func searcher(t *testing.T, r Checker) *Searcher {
	t.Helper()
	now := time.Now()
	return &Searcher{
		Prices: open(t, DefaultPricing()), Registrar: r, CacheTTL: time.Hour, Timeout: time.Minute, MaxParallel: 16, Slots: make(chan struct{}, 64),
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

// A search or a check that nothing is known after fails; one that something is
// known after does not.
func TestNothingCouldBeChecked(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	for _, name := range []deed.Name{"example.com", "example.net", "example.ai"} {
		r.say(name, registrar.Availability{Reason: "silent"})
	}
	r.say("other.com", registrar.Availability{Reason: "taken"})
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
			t.Errorf("%v: it does not say when to try again", tt.names)
		}
	}
	if got := s.find(t, "-example", "com", "net"); got != "invalid invalid" {
		t.Errorf("a label that cannot be: got %s", got)
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
	r.say("example.com", registrar.Availability{Reason: "taken"})
	r.say("example.net", registrar.Availability{Reason: "reserved"})
	r.say("example.org", registrar.Availability{Reason: "silent"})
	r.say("example.io", registrar.Availability{Available: true, Premium: true, Wholesale: 250_000_000})
	r.say("example.dev", registrar.Availability{Available: true, Premium: true, Wholesale: 2_500_000_000}) // above the ceiling, and listed
	r.say("example.app", registrar.Availability{Available: true, Premium: true})                           // for nothing: a mistake
	r.say("example.me", registrar.Availability{})                                                          // no, and no reason
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

func TestQueryIsHeldToItsRules(t *testing.T) {
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
	r.say("taken.com", registrar.Availability{Reason: "taken"})
	s := searcher(t, r)
	results, err := s.Check(t.Context(), []deed.Name{"free.com", "taken.com", "xn--bcher-kva.ai", "free.dev"})
	if got := inWords(results); err != nil || got != "13.06 taken invalid 15.14" {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := s.Check(t.Context(), []deed.Name{"free.com", "free.co.uk"}); deed.CodeOf(err) != deed.CodeTLDNotSupported || r.asked.Load() != 3 {
		t.Errorf("got %v after %d questions", err, r.asked.Load())
	}
}

func TestStandardSet(t *testing.T) {
	if got := len(open(t, DefaultPricing()).Standard()); got != 10 {
		t.Errorf("got %d TLDs, want 10", got)
	}
}

// An answer is repeated for as long as it is kept, and not for longer.
func TestAnswersAreKept(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	now := s.Now()
	s.Now, s.CacheTTL = func() time.Time { return now }, 3*time.Second
	s.find(t, "example", "com")
	r.say("example.com", registrar.Availability{Reason: "taken"})
	now = now.Add(3*time.Second - 1)
	if got := s.find(t, "example", "com"); got != "13.06" || r.asked.Load() != 1 {
		t.Errorf("a moment later: got %s after %d questions", got, r.asked.Load())
	}
	now = now.Add(1)
	if got := s.find(t, "example", "com"); got != "taken" {
		t.Errorf("three seconds later: got %s", got)
	}
	r.say("example.com", registrar.Availability{Available: true})
	if got := s.find(t, "example", "com"); got != "taken" || r.asked.Load() != 2 {
		t.Errorf("a no is kept too: got %s after %d questions", got, r.asked.Load())
	}
	now = now.Add(-time.Second) // a clock that was set back
	if got := s.find(t, "example", "com"); got != "13.06" {
		t.Errorf("an answer from the future: got %s", got)
	}
}

// What the registrar did not say is asked again.
func TestSilenceIsNotKept(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	r.say("example.com", registrar.Availability{Reason: "silent"})
	if got := s.find(t, "example", "com"); got != "unknown" {
		t.Errorf("got %s", got)
	}
	r.say("example.com", registrar.Availability{Available: true})
	if got := s.find(t, "example", "com"); got != "13.06" {
		t.Errorf("got %s", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var r recent
	now := time.Now()
	for i := range 3*maxRecent + 1 {
		r.add(map[deed.Name]registrar.Availability{deed.Name(fmt.Sprintf("name%d.com", i)): {}}, now, time.Hour)
	}
	if len(r.young) != 1 || len(r.old) != maxRecent {
		t.Errorf("got %d and %d names", len(r.young), len(r.old))
	}
	last := deed.Name(fmt.Sprintf("name%d.com", 3*maxRecent-1)) // of the older generation
	if said, _ := r.find([]deed.Name{last}, now, time.Hour); len(said) != 1 {
		t.Error("the older generation is lost")
	}
	r.add(map[deed.Name]registrar.Availability{"late.com": {}}, now.Add(time.Hour), time.Hour)
	r.add(map[deed.Name]registrar.Availability{"later.com": {}}, now.Add(2*time.Hour), time.Hour)
	if len(r.young)+len(r.old) != 2 {
		t.Errorf("what is too old is not dropped: got %d and %d names", len(r.young), len(r.old))
	}
}
