package opusdns_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/opusdns"
)

// listing returns a vendor that lists these names in this order, without DS records but one
// that cannot be.
// change changes a page before it is sent.
func listing(t *testing.T, list func() []string, change func(page int, body string) string) *opusdns.Backend {
	t.Helper()
	return answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", asJSON)
		if strings.HasSuffix(r.URL.Path, "/dnssec") {
			body := "[]"
			if strings.Contains(r.URL.Path, "n0007.com") { // as far as this name is listed
				body = `[{"record_type":"ds_data","key_tag":70000}]`
			}
			_, _ = w.Write([]byte(body)) // the client may have left
			return
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page")) // the backend always sends both
		size, _ := strconv.Atoi(r.URL.Query().Get("page_size"))
		names := list()
		from := min((page-1)*size, len(names))
		to := min(from+size, len(names))
		var results []string
		for _, name := range names[from:to] {
			results = append(results, strings.ReplaceAll(goodDomain, `"one.com"`, strconv.Quote(name)))
		}
		body := fmt.Sprintf(`{"results":[%s],"pagination":{"current_page":%d,"page_size":%d,"total_pages":9,"total_items":9,"has_next_page":%t,"has_previous_page":false}}`,
			strings.Join(results, ","), page, size, to < len(names))
		_, _ = w.Write([]byte(change(page, body))) // the client may have left
	})
}

func asIs(_ int, body string) string { return body }

// all returns all names of the inventory, in pages of this size.
func all(t *testing.T, b *opusdns.Backend, limit int) ([]deed.Name, error) {
	t.Helper()
	var names []deed.Name
	for after := deed.Name(""); ; {
		page, err := b.Holdings(t.Context(), after, limit)
		if err != nil || len(page) == 0 {
			return names, err
		}
		for _, h := range page {
			if h.Name <= after {
				t.Fatalf("got %s after %s", h.Name, after)
			}
			after = h.Name
			names = append(names, h.Name)
		}
	}
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%04d.com", prefix, i))
	}
	return names
}

// A vendor that sorts names in another way is read at once.
func TestUnsortedInventory(t *testing.T) {
	names := numbered("n", 50)
	slices.Reverse(names)
	names = append(names, "a-b.com", "ab.com", "n0007.com") // the last one twice
	for _, limit := range []int{1, 7, 1000} {
		got, err := all(t, listing(t, func() []string { return names }, asIs), limit)
		if err != nil || len(got) != 52 || !slices.IsSorted(got) {
			t.Errorf("by %d: got %d names, %v, want 52", limit, len(got), err)
		}
	}
}

// Any name can be continued after, also by a process that has not read the pages
// before it.
func TestInventoryContinues(t *testing.T) {
	names := numbered("n", 100)
	for _, after := range []deed.Name{"n0000.com", "n0041.com", "n0050.com", "n0098.com", "n0041a.com", "a.com", "z.com", "n0099.com"} {
		b := listing(t, func() []string { return names }, asIs)
		got, err := b.Holdings(t.Context(), after, 10)
		if err != nil {
			t.Fatal(err)
		}
		from, found := slices.BinarySearch(names, string(after))
		if found {
			from++
		}
		want := names[from:min(from+10, len(names))]
		if len(got) != len(want) || len(got) > 0 && string(got[0].Name) != want[0] {
			t.Errorf("after %s: got %d names, want %d from %v", after, len(got), len(want), want)
		}
	}
}

// Names that are deleted or added while the list is read move the others to other
// pages. No name is lost, and none comes twice.
func TestInventoryMoves(t *testing.T) {
	for title, change := range map[string]func([]string) []string{
		"deleted": func(names []string) []string { return names[15:] },
		"added":   func(names []string) []string { return append(numbered("a", 15), names...) },
	} {
		now := numbered("n", 60)
		backend := listing(t, func() []string { return now }, asIs)
		first, err := backend.Holdings(t.Context(), "", 20)
		if err != nil || len(first) != 20 {
			t.Fatalf("%s: got %d, %v", title, len(first), err)
		}
		now = change(now)
		rest := []deed.Name{}
		for after := first[19].Name; ; {
			page, err := backend.Holdings(t.Context(), after, 20)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, h := range page {
				rest = append(rest, h.Name)
			}
			after = rest[len(rest)-1]
		}
		if len(rest) != 40 || rest[0] != "n0020.com" || rest[39] != "n0059.com" {
			t.Errorf("%s: got %d names: %v", title, len(rest), rest)
		}
	}
}

// A list without an end, or that contradicts itself, is an error; a name in it that
// cannot be read hides no other.
func TestHostileInventory(t *testing.T) {
	names := numbered("n", 30)
	list := func() []string { return names }
	for title, change := range map[string]func(page int, body string) string{
		"another page": func(_ int, body string) string {
			return strings.ReplaceAll(body, `"current_page":2`, `"current_page":1`)
		},
		"always the first": func(page int, body string) string {
			return strings.ReplaceAll(body, fmt.Sprintf(`"current_page":%d`, page), `"current_page":1`)
		},
		"the first for ever": func(page int, _ string) string {
			return fmt.Sprintf(`{"results":[%s],"pagination":{"current_page":%d,"has_next_page":true}}`, goodDomain, page)
		},
		"no pagination":      func(_ int, body string) string { return strings.ReplaceAll(body, `"pagination"`, `"pages"`) },
		"empty, but not end": func(int, string) string { return `{"results":[],"pagination":{"current_page":1,"has_next_page":true}}` },
		"too many": func(_ int, body string) string {
			return strings.Replace(body, `"results":[`, `"results":[`+strings.Repeat(goodDomain+",", 20), 1)
		},
		"not a list": func(int, string) string { return `{"results":{},"pagination":{"current_page":1,"has_next_page":true}}` },
	} {
		if got, err := all(t, listing(t, list, change), 10); !isUnknown(err) {
			t.Errorf("%s: got %d names, %v, want an error without a code", title, len(got), err)
		}
	}
	unreadable := func(_ int, body string) string {
		body = strings.ReplaceAll(body, `"n0003.com"`, `3`)
		body = strings.ReplaceAll(body, `"n0004.com"`, `"n0004..com"`)
		return body
	}
	b := listing(t, list, func(page int, body string) string {
		return strings.ReplaceAll(unreadable(page, body), `"nameservers":[`, `"nameservers":[{"hostname":"NS1.Example.net."},`)
	})
	if got, err := all(t, b, 10); err != nil || len(got) != 28 || len(b.Warnings()) != 1 {
		t.Errorf("got %d names, %v and warnings %v, want 28 and one", len(got), err, b.Warnings())
	}
	if h, err := b.Holdings(t.Context(), "", 1); err != nil || len(h) != 1 || !slices.Equal(h[0].Nameservers, []string{"ns1.example.net"}) {
		t.Errorf("a repeated name server: got %+v, %v", h, err)
	}
}
