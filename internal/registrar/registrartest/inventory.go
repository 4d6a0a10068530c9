package registrartest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// Inventory runs the suite for the list of all names that are ours. The bench
// has a Manager.
func Inventory(t *testing.T, open func(t *testing.T) Bench) {
	for title, f := range map[string]func(*testing.T, Bench){
		"pages":                 inventoryPages,
		"only what is ours":     inventoryOurs,
		"as the keeper sees it": inventoryAgrees,
		"nobody replies":        inventoryDown,
	} {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

// listed returns all names, by pages of so many.
func (b Bench) listed(t *testing.T, most int) []deed.Name {
	t.Helper()
	var names []deed.Name
	var after deed.Name
	for {
		page, err := b.Inventory.Holdings(t.Context(), after, most)
		if err != nil || len(page) > most {
			t.Fatalf("got %d names, %v, want %d at most", len(page), err, most)
		}
		if len(page) == 0 {
			return names
		}
		for _, h := range page {
			names = append(names, h.Name)
		}
		after = names[len(names)-1]
	}
}

func inventoryPages(t *testing.T, b Bench) {
	var want []deed.Name
	for i := range 7 {
		n := deed.Name(fmt.Sprintf("suite-%d.com", 6-i))
		b.registered(t, fmt.Sprint("order-", i), n)
		want = append(want, n)
	}
	slices.Sort(want)
	for _, most := range []int{1, 2, 3, 7, 8, 1000} {
		if got := b.listed(t, most); !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", most, got, want)
		}
	}
}

// A name is listed from when it comes until when it goes, also when nobody has
// asked for it by itself.
func inventoryOurs(t *testing.T, b Bench) {
	want := func(names ...deed.Name) {
		t.Helper()
		if got := b.listed(t, 10); !slices.Equal(got, names) {
			t.Errorf("got %v, want %v", got, names)
		}
	}
	want()
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	want()
	b.Advance(b.Late)
	want(name)
	b.Break(t, WrongAccount, 1)
	_ = b.register(t, rival, other) // whatever it says
	want(name)
	gone := b.Now().AddDate(1, 0, b.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays)
	b.until(gone.Add(-day))
	want(name)
	b.until(gone.Add(time.Second))
	want()
}

func inventoryAgrees(t *testing.T, b Bench) {
	b.registered(t, ref, name)
	b.registered(t, rival, other)
	for _, err := range b.change(t, name) {
		wantCode(t, err, "")
	}
	for range 3 {
		got, err := b.Inventory.Holdings(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]lifecycle.Holding{b.holding(t, name), b.holding(t, other)}, got); diff != "" {
			t.Error(diff)
		}
		b.Advance(190 * day)
	}
}

func inventoryDown(t *testing.T, b Bench) {
	b.registered(t, ref, name)
	b.Break(t, Down, 1)
	_, err := b.Inventory.Holdings(t.Context(), "", 10)
	wantUnknown(t, err)
	_, err = b.Inventory.Holdings(leave(t), "", 10)
	wantUnknown(t, err)
	if got := b.listed(t, 10); !slices.Equal(got, []deed.Name{name}) {
		t.Errorf("got %v", got)
	}
}
