package registration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
)

// manyNames are both sides of a comparison: registrations, and a registry that lists some
// of them. Each call returns at most a page, and is counted.
type manyNames struct {
	registrar.Manager
	stored   []deed.Name           // sorted
	listed   []deed.Name           // sorted; what else is stored is only found by a lookup
	missing  map[deed.Name]bool    // at the registry
	unread   map[deed.Name]bool    // that it does not answer about
	refunded []deed.Name           // sorted
	lookups  map[deed.Name]int     // at the registry
	pages    int                   // of registrations that were read
	largest  int                   // number of rows that were returned at once
	broken   func(pages int) error // of the registry's list
}

var expiry = time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC)

func pageOf(names []deed.Name, after deed.Name, limit int) []deed.Name {
	i, found := slices.BinarySearch(names, after)
	if found {
		i++
	}
	return names[i:min(i+limit, len(names))]
}

func (m *manyNames) returned(n int) { m.largest = max(m.largest, n) }

func (m *manyNames) Page(_ context.Context, after deed.Name, limit int) (page []lifecycle.Registration, err error) {
	for _, name := range pageOf(m.stored, after, limit) {
		page = append(page, lifecycle.Registration{Name: name, Expires: expiry, Status: lifecycle.StatusActive})
	}
	m.pages++
	m.returned(len(page))
	return page, nil
}

func (m *manyNames) CountAfter(_ context.Context, after deed.Name) (int, error) {
	return len(pageOf(m.stored, after, len(m.stored))), nil
}

func (m *manyNames) Registration(_ context.Context, name deed.Name) (lifecycle.Registration, error) {
	if _, found := slices.BinarySearch(m.stored, name); !found {
		return lifecycle.Registration{}, deed.Errorf(deed.CodeNotFound, "%s is not stored", name)
	}
	return lifecycle.Registration{Name: name, Expires: expiry, Status: lifecycle.StatusActive}, nil
}

func (m *manyNames) Ordered(context.Context, deed.Name) (bool, error) { return false, nil }

func (m *manyNames) Refunded(_ context.Context, after deed.Name, limit int) ([]deed.Name, error) {
	page := slices.Clone(pageOf(m.refunded, after, limit))
	m.returned(len(page))
	return page, nil
}

func (m *manyNames) Holdings(_ context.Context, after deed.Name, limit int) (page []lifecycle.Holding, err error) {
	for _, name := range pageOf(m.listed, after, limit) {
		page = append(page, lifecycle.Holding{Name: name, Expires: expiry})
	}
	m.returned(len(page))
	if m.broken != nil {
		err = m.broken(m.pages)
	}
	return page, err
}

func (m *manyNames) Holding(_ context.Context, name deed.Name) (lifecycle.Holding, error) {
	m.lookups[name]++
	if m.unread[name] {
		return lifecycle.Holding{}, errors.New("the reply makes no sense")
	}
	_, stored := slices.BinarySearch(m.stored, name)
	_, listed := slices.BinarySearch(m.listed, name)
	if m.missing[name] || !stored && !listed {
		return lifecycle.Holding{}, deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	return lifecycle.Holding{Name: name, Expires: expiry}, nil
}

// newManyNames returns 5,200 names that are stored and listed, 2,300 that only a lookup
// finds, 40 that nobody has stored, two that are missing at the registry, and 1,100 of
// refunded orders.
func newManyNames() *manyNames {
	m := &manyNames{lookups: map[deed.Name]int{}, missing: map[deed.Name]bool{}}
	for i := range 7500 {
		name := deed.Name(fmt.Sprintf("name-%05d.com", i))
		m.stored = append(m.stored, name)
		if i < 3000 || i >= 5300 {
			m.listed = append(m.listed, name)
		}
	}
	m.missing["name-04000.com"], m.missing["name-05299.com"] = true, true
	for i := range 40 {
		m.listed = append(m.listed, deed.Name(fmt.Sprintf("name-%05d-unknown.com", i*180)))
	}
	for i := range 1100 {
		m.refunded = append(m.refunded, deed.Name(fmt.Sprintf("name-%05d-refunded.com", i*6)))
	}
	slices.Sort(m.listed)
	return m
}

func (m *manyNames) reconciler() registration.Reconciler {
	return registration.Reconciler{Names: m, Inventory: m, Manager: m, Pause: func(context.Context) {}}
}

// However many names there are, a page of each list is read at a time, only what a list
// does not show is looked up, and every difference is reported once.
func TestReconcileHoldsOnePage(t *testing.T) {
	const page = 1000
	m := newManyNames()
	found := map[lifecycle.DifferenceKind]int{}
	r := m.reconciler()
	r.Report = func(differences []lifecycle.Difference) error {
		for _, d := range differences {
			found[d.What]++
		}
		return nil
	}
	last, steps := -1, 0
	r.Progress = func(_ deed.Name, done, total int) {
		if done < last || done > total || total != len(m.stored) {
			t.Fatalf("got %d of %d after %d", done, total, last)
		}
		last = done
		steps++
	}
	out, err := r.Run(t.Context())
	if err != nil || out.Stored != 7500 || out.Registry != 7538 || out.Differing != 42 || out.Differences != nil {
		t.Errorf("got %+v, %v", out, err)
	}
	if found[lifecycle.DiffersUnknown] != 40 || found[lifecycle.DiffersMissing] != 2 || len(found) != 2 {
		t.Errorf("got %v", found)
	}
	if m.largest > page {
		t.Errorf("%d rows were read at once", m.largest)
	}
	if last != len(m.stored) || steps < 2300 {
		t.Errorf("the progress ends with %d, after %d steps", last, steps)
	}
	if want := 2300 + 40 + 1100; len(m.lookups) != want {
		t.Errorf("%d names were looked up, want %d", len(m.lookups), want)
	}
	for name, n := range m.lookups {
		if differs := m.missing[name] || len(name) > len("name-00000.com") && n > 1; n > 2 || n > 1 && !differs {
			t.Errorf("%s was looked up %d times", name, n)
		}
	}
}

// A comparison that was stopped anywhere continues where its progress was: nothing is
// left out, and at most a page is compared again.
func TestReconcileContinues(t *testing.T) {
	down := errors.New("the registry is down")
	for stop := 2; stop < 8; stop++ {
		m := newManyNames()
		m.broken = func(pages int) error {
			if pages == stop {
				return down
			}
			return nil
		}
		found, position := map[deed.Name]int{}, deed.Name("")
		r := m.reconciler()
		r.Report = func(differences []lifecycle.Difference) error {
			for _, d := range differences {
				found[d.Name]++
			}
			return nil
		}
		r.Progress = func(compared deed.Name, _, _ int) { position = compared }
		if _, err := r.Run(t.Context()); !errors.Is(err, down) || position == "" {
			t.Fatalf("stopped at page %d: got %v, at %q", stop, err, position)
		}
		pages := m.pages
		m.broken, r.After = nil, position
		out, err := r.Run(t.Context())
		if err != nil || len(found) != 42 {
			t.Errorf("stopped at page %d: got %+v, %v, and %d names that differ", stop, out, err, len(found))
		}
		for name, n := range found {
			if n != 1 {
				t.Errorf("stopped at page %d: %s was reported %d times", stop, name, n)
			}
		}
		whole := newManyNames()
		if _, err := whole.reconciler().Run(t.Context()); err != nil || m.pages > whole.pages+1 || pages != stop {
			t.Errorf("stopped at page %d: %d pages were read, and %d by one run: %v", stop, m.pages, whole.pages, err)
		}
	}
}

// A name that the registry does not answer about is reported, and those behind it are
// compared; a registry that answers about none is down.
func TestReconcileUnreadNames(t *testing.T) {
	for _, c := range []struct{ from, to, want int }{{3000, 3009, 9}, {3000, 3010, 0}} {
		m := newManyNames()
		m.unread = map[deed.Name]bool{}
		for _, name := range m.stored[c.from:c.to] {
			m.unread[name] = true
		}
		out, err := m.reconciler().Run(t.Context())
		found := 0
		for _, d := range out.Differences {
			if d.What == lifecycle.DiffersUnread {
				found++
			}
		}
		if found != c.want || (err == nil) != (c.want > 0) || err == nil && out.Differing != 42+c.want {
			t.Errorf("%d names: got %d of %d differences, %v", c.to-c.from, found, out.Differing, err)
		}
	}
}
