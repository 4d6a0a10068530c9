package opusdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// Limits of the list of names.
const (
	namesPerPage = 1000    // the most that the vendor allows
	maxPages     = 100_000 // a list that is longer has no end
)

type pagination struct {
	Page    int  `json:"current_page"`
	HasNext bool `json:"has_next_page"`
}

// A walk remembers where a list was read to, so that the next page of the inventory
// need not be searched for. The vendor has no cursors, only numbers of pages.
type walk struct {
	after deed.Name // the last name that was returned
	page  int       // the vendor's page that it was on
}

// A snapshot has all names of the account at a time, sorted.
type snapshot struct {
	names []domain
	at    time.Time
}

// snapshotAge is how long a snapshot is used. The first page always takes a new one.
const snapshotAge = time.Hour

// takeSnapshot reads all names, in the order in which they were created, so that a
// new name does not move the others.
func (b *Backend) takeSnapshot(ctx context.Context) (snapshot, error) {
	s, seen := snapshot{at: time.Now()}, map[deed.Name]bool{}
	for page, last := 1, false; !last; page++ {
		var names []domain
		var err error
		if names, last, err = b.namesOn(ctx, "created_on", page); err != nil {
			return s, err
		}
		before := len(seen)
		for _, d := range names {
			if !seen[d.name] {
				seen[d.name] = true
				s.names = append(s.names, d)
			}
		}
		if page > maxPages || len(names) > 0 && len(seen) == before {
			return s, fmt.Errorf("list names: the list does not end")
		}
	}
	slices.SortFunc(s.names, byName)
	return s, nil
}

// snapshotAfter returns the next names of a snapshot.
func (b *Backend) snapshotAfter(ctx context.Context, after deed.Name, limit int) ([]domain, error) {
	b.mu.Lock()
	s := b.snapshot
	b.mu.Unlock()
	if after == "" || time.Since(s.at) > snapshotAge {
		var err error
		if s, err = b.takeSnapshot(ctx); err != nil {
			return nil, err
		}
		b.mu.Lock()
		b.snapshot = s
		b.mu.Unlock()
	}
	from, found := slices.BinarySearchFunc(s.names, domain{name: after}, byName)
	if found {
		from++
	}
	return s.names[from:min(from+limit, len(s.names))], nil
}

// errUnsorted is the error of a list whose order is not that of Go strings.
var errUnsorted = errors.New("list names: the vendor does not sort them by name")

// Holdings implements registrar.Inventory. If the vendor sorts names in another way
// than we do, all of them are read at once.
func (b *Backend) Holdings(ctx context.Context, after deed.Name, limit int) ([]lifecycle.Holding, error) {
	if limit < 1 {
		return nil, nil
	}
	found, err := b.namesAfter(ctx, after, limit)
	if errors.Is(err, errUnsorted) {
		found, err = b.snapshotAfter(ctx, after, limit)
	}
	if err != nil {
		return nil, err
	}
	return b.holdings(ctx, found)
}

// namesAfter returns the next names. Names that are added or deleted meanwhile move
// the others to other pages: it steps back until it finds names that were returned
// already, and then forward.
func (b *Backend) namesAfter(ctx context.Context, after deed.Name, limit int) ([]domain, error) {
	page, err := b.seek(ctx, after)
	if err != nil {
		return nil, err
	}
	var found []domain
	read := deed.Name("")
	for {
		names, last, err := b.sortedNamesOn(ctx, page)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			if names[len(names)-1].name <= read {
				return nil, errUnsorted // or the same page again
			}
			read = names[len(names)-1].name
		}
		for _, d := range names {
			if d.name > after && (len(found) == 0 || d.name > found[len(found)-1].name) && len(found) < limit {
				found = append(found, d)
			}
		}
		if last || len(found) == limit {
			break
		}
		if page++; page > maxPages {
			return nil, fmt.Errorf("list names: the list does not end")
		}
	}
	if len(found) > 0 {
		b.mu.Lock()
		b.walk = walk{after: found[len(found)-1].name, page: page}
		b.mu.Unlock()
	}
	return found, nil
}

// holdings returns the domains with their DS records. One that has left the account
// meanwhile has none, so that the page stays as long as it is, and so has one whose DS cannot
// be read: it must not hide the others.
func (b *Backend) holdings(ctx context.Context, all []domain) ([]lifecycle.Holding, error) {
	out := make([]lifecycle.Holding, 0, len(all))
	for _, d := range all {
		h := d.holding(b.config.Now())
		if !b.config.ListWithoutDS {
			var err error
			h.DS, err = b.ds(ctx, readLane, d.name)
			if err != nil && deed.CodeOf(err) != deed.CodeNotFound && !errors.Is(err, errUndocumented) {
				return nil, err
			}
		}
		out = append(out, h)
	}
	return out, nil
}

// seek returns the page to continue at: one whose first name was returned already,
// or the first.
func (b *Backend) seek(ctx context.Context, after deed.Name) (int, error) {
	if after == "" {
		return 1, nil
	}
	b.mu.Lock()
	w := b.walk
	b.mu.Unlock()
	low, high := 1, 1
	if w.after == after {
		low, high = w.page, w.page
	}
	starts := func(page int) (before, beyond bool, err error) {
		names, last, err := b.sortedNamesOn(ctx, page)
		return len(names) > 0 && names[0].name <= after, last, err
	}
	for low > 1 { // it may have moved back
		before, _, err := starts(low)
		if err != nil {
			return 0, err
		}
		if before {
			return low, nil
		}
		low, high = max(low/2, 1), low
	}
	if w.after == after && high == low {
		return low, nil
	}
	return b.search(after, low, high, starts)
}

// search returns the last page whose first name is not after the given one. It
// doubles the range until that ends after it, and then halves it.
func (b *Backend) search(after deed.Name, low, high int, starts func(page int) (bool, bool, error)) (int, error) {
	for high = max(high, low+1); ; high *= 2 {
		before, last, err := starts(high)
		if err != nil {
			return 0, err
		}
		if !before {
			break
		}
		low = high
		if last || high > maxPages {
			return low, nil
		}
	}
	for high-low > 1 {
		middle := (low + high) / 2
		before, _, err := starts(middle)
		if err != nil {
			return 0, err
		}
		if before {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// sortedNamesOn returns the names on a page of the list that is sorted by name.
func (b *Backend) sortedNamesOn(ctx context.Context, page int) (names []domain, last bool, err error) {
	names, last, err = b.namesOn(ctx, "name", page)
	if err == nil && !slices.IsSortedFunc(names, byName) {
		return nil, false, errUnsorted
	}
	return names, last, err
}

// namesOn returns the names on a page that are in the account, and whether the page
// is the last. A name that cannot be read is left out: it must not hide the others.
func (b *Backend) namesOn(ctx context.Context, sort string, page int) (names []domain, last bool, err error) {
	size := b.config.PageSize
	var reply struct {
		Results    []jsontext.Value `json:"results"`
		Pagination *pagination      `json:"pagination"`
	}
	query := url.Values{"sort_by": {sort}, "sort_order": {"asc"}, "page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(size)}}
	err = b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/domains", query: query, limit: maxList}, &reply)
	if err != nil {
		return nil, false, b.unknown("list names", err)
	}
	switch {
	case reply.Pagination == nil || reply.Pagination.Page != page:
		return nil, false, fmt.Errorf("list names: the reply is not page %d", page)
	case len(reply.Results) > size:
		return nil, false, fmt.Errorf("list names: a page has %d names, more than %d", len(reply.Results), size)
	case len(reply.Results) == 0 && reply.Pagination.HasNext:
		return nil, false, fmt.Errorf("list names: a page in the middle is empty")
	}
	for _, raw := range reply.Results {
		var r domainReply
		if json.Unmarshal(raw, &r) != nil {
			b.warn(warnReplies, "a name in a list cannot be read")
			continue
		}
		d, err := parseDomain(r)
		if err != nil {
			b.warn(warnReplies, "a name in a list cannot be read")
			continue
		}
		if b.owns(r) && d.inAccount() && !b.waitsForTransfer(d) {
			names = append(names, d)
		}
	}
	return names, !reply.Pagination.HasNext, nil
}

func byName(a, b domain) int { return strings.Compare(string(a.name), string(b.name)) }
