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

// Inventory runs the suite for the list of all names in the account. The Env has a
// Manager.
func Inventory(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	for title, f := range map[string]func(*testing.T, Env){
		"pages":                     inventoryPages,
		"only names in the account": inventoryInAccount,
		"same data as the manager":  inventoryAgrees,
		"no reply":                  inventoryDown,
	} {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

// listed returns all names, in pages of this size.
func (b Env) listed(t *testing.T, limit int) []deed.Name {
	t.Helper()
	var names []deed.Name
	var after deed.Name
	for {
		page, err := b.Inventory.Holdings(t.Context(), after, limit)
		if err != nil || len(page) > limit {
			t.Fatalf("got %d names, %v, want %d at most", len(page), err, limit)
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

func inventoryPages(t *testing.T, b Env) {
	var want []deed.Name
	for i := range 7 {
		n := deed.Name(fmt.Sprintf("suite-%d.com", 6-i))
		b.registered(t, fmt.Sprint("order-", i), n)
		want = append(want, n)
	}
	slices.Sort(want)
	for _, limit := range []int{1, 2, 3, 7, 8, 1000} {
		if got := b.listed(t, limit); !slices.Equal(got, want) {
			t.Errorf("by %d: got %v, want %v", limit, got, want)
		}
	}
}

// A name is listed from its registration to its deletion, even if nobody has looked
// it up.
func inventoryInAccount(t *testing.T, b Env) {
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
	_ = b.register(t, rival, other) // whatever it returns
	want(name)
	gone := b.Now().AddDate(1, 0, b.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays)
	b.until(gone.Add(-day))
	want(name)
	b.until(gone.Add(time.Second))
	want()
}

func inventoryAgrees(t *testing.T, b Env) {
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

func inventoryDown(t *testing.T, b Env) {
	b.registered(t, ref, name)
	b.Break(t, Down, 1)
	_, err := b.Inventory.Holdings(t.Context(), "", 10)
	wantUnknown(t, err)
	_, err = b.Inventory.Holdings(canceledContext(t), "", 10)
	wantUnknown(t, err)
	if got := b.listed(t, 10); !slices.Equal(got, []deed.Name{name}) {
		t.Errorf("got %v", got)
	}
}
