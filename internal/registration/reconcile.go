package registration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// A NameLister reads all registrations, in pages. Names are sorted by their bytes, as
// registrars sort them.
type NameLister interface {
	// Page returns at most limit registrations after the name, sorted.
	Page(ctx context.Context, after deed.Name, limit int) ([]lifecycle.Registration, error)

	// CountAfter returns how many registrations come after the name.
	CountAfter(ctx context.Context, after deed.Name) (int, error)

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Ordered reports whether an order for the name is in progress.
	Ordered(ctx context.Context, name deed.Name) (bool, error)

	// Refunded returns at most limit names after the given one, sorted, of refunded
	// orders that may still be executed.
	Refunded(ctx context.Context, after deed.Name, limit int) ([]deed.Name, error)
}

// A Reconciler compares every registration with every name in our account at the
// registry, page by page: it holds one page of each side. It is read-only: Lifecycle
// applies corrections.
type Reconciler struct {
	Names     NameLister
	Inventory registrar.Inventory
	Manager   registrar.Manager
	Pause     func(ctx context.Context) // long enough for a change to reach both sides

	Pace      *registrar.Pace                                           // of lookups; nil for no limit
	BackendOf func(ctx context.Context, name deed.Name) (string, error) // of a name that we do not know; nil if there is only one
	After     deed.Name                                                 // only names after this one are compared; "" for all

	// Progress is told up to which name everything was compared and reported, and how
	// many registrations of how many were compared; it may be nil.
	Progress func(compared deed.Name, done, total int)

	// Report is told the differences of each page. If it is nil, they are in the result.
	Report func(found []lifecycle.Difference) error
}

// pageSize is how many names are read at once, from each side.
const pageSize = 1000

// A Reconciliation is the result of a comparison.
type Reconciliation struct {
	Stored, Registry int // names
	Ordered          int // names that differ while an order for them is in progress
	Differing        int // differences
	Differences      []lifecycle.Difference
}

// Run compares both sides. They change while it reads them, so a name that seems to
// differ is compared again by itself, and once more after a pause.
func (c Reconciler) Run(ctx context.Context) (out Reconciliation, err error) {
	total, err := c.Names.CountAfter(ctx, c.After)
	if err != nil {
		return out, fmt.Errorf("count the registrations: %w", err)
	}
	for after, ended := c.After, false; !ended; {
		page, err := c.read(ctx, after)
		if err != nil {
			return out, err
		}
		compared := func(n int) { c.progress(after, out.Stored+n, total) }
		if err := c.comparePage(ctx, page, &out, compared); err != nil {
			return out, err
		}
		after, ended = page.until, page.until == ""
		c.progress(after, out.Stored, max(total, out.Stored))
	}
	return out, nil
}

func (c Reconciler) progress(compared deed.Name, done, total int) {
	if c.Progress != nil {
		c.Progress(compared, min(done, total), total)
	}
}

// A namePage is a part of the names, in which both sides are complete.
type namePage struct {
	stored   []lifecycle.Registration
	listed   []lifecycle.Holding
	refunded []deed.Name
	until    deed.Name // the last name of the page; "" if it is the last page
}

// read returns the next page. It ends with the last name up to which all lists are known.
func (c Reconciler) read(ctx context.Context, after deed.Name) (p namePage, err error) {
	if p.stored, err = c.Names.Page(ctx, after, pageSize); err != nil {
		return p, fmt.Errorf("read the registrations: %w", err)
	}
	if p.listed, err = c.Inventory.Holdings(ctx, after, pageSize); err != nil {
		return p, fmt.Errorf("read the registry's names: %w", err)
	}
	if p.refunded, err = c.Names.Refunded(ctx, after, pageSize); err != nil { // a registry without a list is asked about each
		return p, fmt.Errorf("read the refunded orders: %w", err)
	}
	ends := func(n int, last func() deed.Name) {
		if n >= pageSize && (p.until == "" || last() < p.until) {
			p.until = last()
		}
	}
	ends(len(p.stored), func() deed.Name { return p.stored[len(p.stored)-1].Name })
	ends(len(p.listed), func() deed.Name { return p.listed[len(p.listed)-1].Name })
	ends(len(p.refunded), func() deed.Name { return p.refunded[len(p.refunded)-1] })
	beyond := func(name deed.Name) bool { return p.until != "" && name > p.until }
	p.stored = slices.DeleteFunc(p.stored, func(r lifecycle.Registration) bool { return beyond(r.Name) })
	p.listed = slices.DeleteFunc(p.listed, func(h lifecycle.Holding) bool { return beyond(h.Name) })
	p.refunded = slices.DeleteFunc(p.refunded, beyond)
	if p.until != "" && p.until <= after {
		return p, fmt.Errorf("names are not sorted: %s comes after %s", p.until, after)
	}
	return p, nil
}

// comparePage compares the two sides of a page, and tells how many of its registrations
// were compared.
func (c Reconciler) comparePage(ctx context.Context, p namePage, out *Reconciliation, compared func(n int)) error {
	unlisted := map[deed.Name]lifecycle.Registration{}
	for _, r := range p.stored {
		unlisted[r.Name] = r
	}
	mismatched := map[deed.Name]bool{}
	for _, h := range p.listed {
		r, known := unlisted[h.Name]
		if !known || len(r.Differences(h)) > 0 {
			mismatched[h.Name] = true
		}
		delete(unlisted, h.Name)
	}
	for name := range unlisted {
		mismatched[name] = true
	}
	for _, name := range p.refunded {
		mismatched[name] = true
	}
	same := max(0, len(p.stored)-len(mismatched))
	count := func(name deed.Name, held bool) {
		if _, counts := unlisted[name]; counts && held {
			out.Registry++
			delete(unlisted, name)
		}
		same = min(same+1, len(p.stored))
		compared(same)
	}
	found, err := c.recheck(ctx, mismatched, count)
	if err == nil && len(mismatched) > 0 {
		c.Pause(ctx)
		found, err = c.recheck(ctx, mismatched, count)
	}
	if err != nil {
		return err
	}
	out.Stored += len(p.stored)
	out.Registry += len(p.listed)
	out.Ordered += found.ordered
	out.Differing += len(found.differences)
	if c.Report != nil && len(found.differences) > 0 {
		return c.Report(found.differences)
	}
	out.Differences = append(out.Differences, found.differences...)
	return nil
}

// rechecked is what a second look at some names has found.
type rechecked struct {
	differences []lifecycle.Difference
	ordered     int // names that differ while an order for them is in progress
}

// maxUnread is how many names in a row cannot be read until the registry counts as down.
const maxUnread = 10

// recheck compares names one by one, and drops those that no longer differ. It tells
// whether the registry holds each of them.
func (c Reconciler) recheck(ctx context.Context, mismatched map[deed.Name]bool, tell func(name deed.Name, held bool)) (out rechecked, err error) {
	unread := 0
	for _, name := range slices.Sorted(maps.Keys(mismatched)) {
		before, err := c.Names.Ordered(ctx, name)
		if err != nil {
			return out, fmt.Errorf("check for an order of %s: %w", name, err)
		}
		found, held, err := c.compare(ctx, name)
		if err != nil {
			return out, err
		}
		if unread++; len(found) == 0 || found[0].What != lifecycle.DiffersUnread {
			unread = 0
		}
		if unread == maxUnread {
			return out, fmt.Errorf("read %s from the registry: %s", name, found[0].Registry)
		}
		after, err := c.Names.Ordered(ctx, name) // it may have started in between
		switch {
		case err != nil:
			return out, fmt.Errorf("check for an order of %s: %w", name, err)
		case len(found) == 0:
			delete(mismatched, name)
		case before || after:
			out.ordered++
		default:
			out.differences = append(out.differences, found...)
		}
		tell(name, held)
	}
	return out, nil
}

// compare compares the current state of one name, and reports whether the registry
// holds it for us.
func (c Reconciler) compare(ctx context.Context, name deed.Name) (found []lifecycle.Difference, held bool, err error) {
	r, storedErr := c.Names.Registration(ctx, name)
	if storedErr != nil && deed.CodeOf(storedErr) != deed.CodeNotFound {
		return nil, false, fmt.Errorf("read %s: %w", name, storedErr)
	}
	if err := c.wait(ctx, name, r.Backend); err != nil {
		return nil, false, err
	}
	h, registryErr := c.Manager.Holding(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, false, fmt.Errorf("read %s from the registry: %w", name, ctx.Err())
	case registryErr != nil && deed.CodeOf(registryErr) != deed.CodeNotFound:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersUnread, Stored: string(r.Status), Registry: registryErr.Error()}}, false, nil
	case storedErr != nil && registryErr != nil:
		return nil, false, nil // it has ended in between
	case storedErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersUnknown, Registry: "held until " + h.Expires.UTC().Format(time.RFC3339)}}, true, nil
	case registryErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersMissing, Stored: string(r.Status) + " of " + string(r.Owner)}}, false, nil
	}
	return r.Differences(h), true, nil
}

// wait waits until the registrar of the name may be asked about one more.
func (c Reconciler) wait(ctx context.Context, name deed.Name, backend string) (err error) {
	if c.Pace == nil {
		return nil
	}
	if backend == "" && c.BackendOf != nil {
		if backend, err = c.BackendOf(ctx, name); err != nil {
			return nil // nobody sells it: the lookup says so
		}
	}
	return c.Pace.Wait(ctx, backend)
}
