package local_test

import (
	"context"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// check compares every name with its model.
func (w *walker) check(t *rapid.T) {
	now := w.at()
	var inAccount []deed.Name
	for _, n := range w.names {
		m := w.models[n]
		m.advance(now)
		h, err := w.Holding(context.Background(), n)
		if m.holder != us {
			want(t, err, deed.CodeNotFound)
		} else {
			inAccount = append(inAccount, n)
			w.checkHolding(t, m, h, err)
		}
		if a, err := w.Available(context.Background(), n); err != nil || a.Available != (m.holder == "") {
			t.Fatalf("%s: got %+v, %v, held by %q", n, a, err, m.holder)
		}
	}
	page, err := w.Holdings(context.Background(), deed.Name(w.prefix), len(w.names))
	if err != nil {
		t.Fatal(err)
	}
	var listed []deed.Name
	for _, h := range page {
		if strings.HasPrefix(string(h.Name), w.prefix) {
			listed = append(listed, h.Name)
		}
	}
	if !slices.Equal(listed, inAccount) {
		t.Fatalf("listed %v, want %v", listed, inAccount)
	}
}

func (w *walker) checkHolding(t *rapid.T, m *model, h lifecycle.Holding, err error) {
	now := w.at()
	phase, _ := lifecycle.PhaseAt(m.expires, 45, now)
	if err != nil || !h.Expires.Equal(m.expires) || !h.Created.Equal(m.created) || h.Locked != m.locked || h.Phase != phase {
		t.Fatalf("got %+v, %v, want %+v in %s", h, err, m, phase)
	}
	// Ten years after a leap day may be a day more than ten years after the next day.
	if h.Expires.After(now.AddDate(10, 0, 1)) {
		t.Fatalf("expires %s, more than ten years after %s", h.Expires, now)
	}
	if slices.Contains(h.EPPStatus, "pendingTransfer") != (m.to != "") {
		t.Fatalf("got %v, leaving for %q", h.EPPStatus, m.to)
	}
}

// visible returns the visible state of the names and the orders.
func (w *walker) visible(t *rapid.T) (all []any) {
	for _, n := range w.names {
		h, err := w.Holding(context.Background(), n)
		a, err2 := w.Available(context.Background(), n)
		all = append(all, h, deed.CodeOf(err), a, deed.CodeOf(err2))
	}
	for _, o := range w.orders {
		status, err := w.Order(context.Background(), o.Order)
		all = append(all, status, deed.CodeOf(err))
	}
	return all
}
