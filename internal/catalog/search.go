package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// standardTLDs are searched when a request names no TLDs.
var standardTLDs = []deed.TLD{"com", "net", "org", "io", "xyz", "dev", "app", "ai", "co", "me"}

// Standard returns the listings that are searched when a request names no TLDs: those of
// the standard TLDs, or as many others if none of these is sold.
func (s *Service) Standard() []Listing {
	out := make([]Listing, 0, len(standardTLDs))
	for _, tld := range standardTLDs {
		if l, err := s.Listing(tld); err == nil { // a test compares the set with the embedded list
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		all := s.Listings()
		return all[:min(len(all), len(standardTLDs))]
	}
	return out
}

// Why a name is not available.
const (
	Taken    = "taken"
	Reserved = "reserved"
	Invalid  = "invalid" // not a valid name under this TLD
	Unknown  = "unknown" // the registrar did not answer
)

// A Result is the availability of one name.
type Result struct {
	Domain    string // in lower case; a deed.Name unless Reason is Invalid
	TLD       deed.TLD
	Available bool
	Reason    string // "" when available

	// Set for available names:
	Premium bool
	Offer   Listing // its prices
}

// Names knows the names that are sold here.
type Names interface {
	// Taken returns those of the names that are registered here, or that are being
	// bought by anybody but the buyer, who may be "".
	Taken(ctx context.Context, names []deed.Name, buyer deed.Wallet) ([]deed.Name, error)
}

// A Searcher finds available names. Its results may be a few seconds old, so a
// purchase queries the registrar again.
//
// Recent answers come from a cache. Other names are queried in parallel, and those
// without an answer within the timeout stay unknown. Identical concurrent queries
// share one call, which therefore continues when its first caller is gone. A name that
// somebody has paid for is taken from that moment on, before the registrar knows it.
//
// It is safe for concurrent use. Fill every field.
type Searcher struct {
	Prices      *Service
	Registrar   Checker
	Names       Names
	CacheTTL    time.Duration // how long answers of the registrar are cached
	Timeout     time.Duration // of a search, and of one query
	MaxParallel int           // queries per search
	Slots       chan struct{} // its capacity limits the queries of this process
	OnError     func(error)   // called each time the registrar did not answer
	Now         func() time.Time

	recent   recent
	inflight singleflight.Group
}

// Search looks for the label under each of the listings. It fails with
// CodeValidation when the query violates chapter 4 of the interface document; a
// label that is valid there but cannot be registered is Invalid. It fails with
// CodeUnavailable when no name at all could be checked.
func (s *Searcher) Search(ctx context.Context, query string, under []Listing) ([]Result, error) {
	if err := checkQuery(query); err != nil {
		return nil, err
	}
	results := make([]Result, len(under))
	for i, l := range under {
		domain := strings.ToLower(query) + "." + string(l.TLD)
		results[i] = Result{Domain: domain, TLD: l.TLD, Reason: Invalid}
		if name, err := deed.ParseName(domain); err == nil {
			results[i] = unchecked(name, l)
		}
	}
	return results, s.fill(ctx, results)
}

// Check checks each of the names. It fails with CodeTLDNotSupported, and as
// Search does when nothing could be checked.
func (s *Searcher) Check(ctx context.Context, names []deed.Name) ([]Result, error) {
	results := make([]Result, len(names))
	for i, name := range names {
		l, err := s.Prices.Listing(name.TLD())
		if err != nil {
			return nil, err
		}
		results[i] = unchecked(name, l)
	}
	return results, s.fill(ctx, results)
}

// maxQuery is the maximum length of a label (RFC 1035, 2.3.4).
const maxQuery = 63

func checkQuery(query string) error {
	switch {
	case query == "":
		return deed.Invalid("query", "is missing: send the label to look for, such as example")
	case strings.Contains(query, "."):
		name, _ := deed.ParseName(query) // what is not a name is not suggested
		return deed.WithNext(deed.Invalid("query", "is a label without its TLD: send example, not example.com"), deed.Next{Action: deed.ActionCheck, Domain: name})
	case strings.ContainsFunc(query, notInLabel):
		return deed.Invalid("query", "has letters a to z, digits and hyphens only")
	case len(query) > maxQuery:
		return deed.Invalid("query", "has at most %d characters, not %d", maxQuery, len(query))
	}
	return nil
}

func notInLabel(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
}

// unchecked returns the result of a name before the registrar is queried.
func unchecked(name deed.Name, l Listing) Result {
	r := Result{Domain: string(name), TLD: l.TLD, Reason: Unknown}
	if name.Label().IsIDN() && !l.IDN {
		r.Reason = Invalid
	}
	return r
}

// fill looks up the results that are unknown. It fails when all stay unknown.
func (s *Searcher) fill(ctx context.Context, results []Result) error {
	names := make([]deed.Name, 0, len(results))
	for _, r := range results {
		if r.Reason == Unknown {
			names = append(names, deed.Name(r.Domain))
		}
	}
	answers := s.lookup(ctx, names)
	for i, r := range results {
		if a, ok := answers[deed.Name(r.Domain)]; ok {
			results[i] = s.result(r, a)
		}
	}
	if len(results) > 0 && !slices.ContainsFunc(results, func(r Result) bool { return r.Reason != Unknown }) {
		if errors.Is(ctx.Err(), context.Canceled) {
			return fmt.Errorf("wait for the registrar: %w", ctx.Err()) // the caller is gone, the registrar did not fail
		}
		return errNotChecked
	}
	return s.markTaken(ctx, results)
}

// markTaken marks the available names that are registered here or being bought.
func (s *Searcher) markTaken(ctx context.Context, results []Result) error {
	var names []deed.Name
	for _, r := range results {
		if r.Available {
			names = append(names, deed.Name(r.Domain))
		}
	}
	if len(names) == 0 {
		return nil
	}
	taken, err := s.Names.Taken(ctx, names, "")
	if err != nil {
		return fmt.Errorf("check which names are being bought: %w", err)
	}
	for i, r := range results {
		if r.Available && slices.Contains(taken, deed.Name(r.Domain)) {
			results[i] = Result{Domain: r.Domain, TLD: r.TLD, Reason: Taken}
		}
	}
	return nil
}

// errNotChecked is returned when the registrar answered no query of a search.
var errNotChecked = &deed.Error{
	Code:    deed.CodeUnavailable,
	Message: "the registrar did not answer, so nothing could be checked: try again in a moment",
	Retry:   5 * time.Second,
}

// result returns r with the answer of the registrar. An implausible answer leaves it
// unknown.
func (s *Searcher) result(r Result, a registrar.Availability) Result {
	if !a.Available {
		if a.Reason == Taken || a.Reason == Reserved {
			r.Reason = a.Reason
		}
		return r
	}
	offer, err := s.Prices.Offer(r.TLD, a)
	if err != nil {
		s.OnError(err)
		return r
	}
	r.Available, r.Reason, r.Premium, r.Offer = true, "", a.Premium, offer
	return r
}
