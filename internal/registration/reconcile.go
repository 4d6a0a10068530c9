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

// A NameLister reads all registrations.
type NameLister interface {
	// ForEach calls f for every registration, with the transaction that paid for it.
	ForEach(ctx context.Context, f func(r lifecycle.Registration, txHash string) error) error

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Ordered reports whether an order for the name is in progress.
	Ordered(ctx context.Context, name deed.Name) (bool, error)

	// Refunded returns the names of refunded orders that may still be executed.
	Refunded(ctx context.Context) ([]deed.Name, error)
}

// A Reconciler compares every registration with every name in our account at the
// registry. It is read-only: Lifecycle applies corrections.
type Reconciler struct {
	Names     NameLister
	Inventory registrar.Inventory
	Manager   registrar.Manager
	Pause     func(ctx context.Context) // long enough for a change to reach both sides

	Pace  *registrar.Pace // of lookups; nil for no limit
	After deed.Name       // only names after this one are compared; "" for all

	// Progress is told the last name that was looked up, and how many of how many; it may
	// be nil.
	Progress func(name deed.Name, done, total int)
}

// pageSize is how many names are read from the registry at once.
const pageSize = 1000

// A Reconciliation is the result of a comparison.
type Reconciliation struct {
	Stored, Registry int // names
	Ordered          int // names that differ while an order for them is in progress
	Differences      []lifecycle.Difference
}

// Run compares both sides. They change while it reads them, so a name that seems to
// differ is compared again by itself, and once more after a pause.
func (c Reconciler) Run(ctx context.Context) (out Reconciliation, err error) {
	stored := map[deed.Name]lifecycle.Registration{}
	err = c.Names.ForEach(ctx, func(r lifecycle.Registration, _ string) error {
		if r.Name > c.After {
			stored[r.Name] = r
		}
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("read the registrations: %w", err)
	}
	out.Stored = len(stored)
	mismatched, err := c.compareLists(ctx, stored, &out)
	if err != nil {
		return out, err
	}
	refunded, err := c.Names.Refunded(ctx) // a registry without a list is asked about each
	if err != nil {
		return out, fmt.Errorf("read the refunded orders: %w", err)
	}
	for _, name := range refunded {
		if name > c.After {
			mismatched[name] = true
		}
	}
	if err = c.recheck(ctx, mismatched, stored, &out); err == nil && len(mismatched) > 0 {
		c.Pause(ctx)
		err = c.recheck(ctx, mismatched, stored, &out)
	}
	return out, err
}

// compareLists compares registrations with the lists of the registrars that have one. It
// returns the names that differ or are in no list, and leaves the latter in stored.
func (c Reconciler) compareLists(ctx context.Context, stored map[deed.Name]lifecycle.Registration, out *Reconciliation) (map[deed.Name]bool, error) {
	mismatched := map[deed.Name]bool{}
	for after := c.After; ; {
		page, err := c.Inventory.Holdings(ctx, after, pageSize)
		if err != nil {
			return nil, fmt.Errorf("read the registry's names: %w", err)
		}
		for _, h := range page {
			r, known := stored[h.Name]
			if !known || len(r.Differences(h)) > 0 {
				mismatched[h.Name] = true
			}
			delete(stored, h.Name)
			after = h.Name
		}
		if out.Registry += len(page); len(page) < pageSize {
			break
		}
	}
	for name := range stored {
		mismatched[name] = true
	}
	return mismatched, nil
}

// recheck compares names one by one, and drops those that no longer differ. Names that
// are in no list and at the registry are counted once.
func (c Reconciler) recheck(ctx context.Context, mismatched map[deed.Name]bool, unlisted map[deed.Name]lifecycle.Registration, out *Reconciliation) error {
	out.Ordered, out.Differences = 0, nil
	names := slices.Sorted(maps.Keys(mismatched))
	for i, name := range names {
		before, err := c.Names.Ordered(ctx, name)
		if err != nil {
			return fmt.Errorf("check for an order of %s: %w", name, err)
		}
		found, held, err := c.compare(ctx, name)
		if err != nil {
			return err
		}
		if _, counts := unlisted[name]; counts && held {
			out.Registry++
			delete(unlisted, name)
		}
		if c.Progress != nil {
			c.Progress(name, i+1, len(names))
		}
		after, err := c.Names.Ordered(ctx, name) // it may have started in between
		switch {
		case err != nil:
			return fmt.Errorf("check for an order of %s: %w", name, err)
		case len(found) == 0:
			delete(mismatched, name)
		case before || after:
			out.Ordered++
		default:
			out.Differences = append(out.Differences, found...)
		}
	}
	return nil
}

// compare compares the current state of one name, and reports whether the registry
// holds it for us.
func (c Reconciler) compare(ctx context.Context, name deed.Name) (found []lifecycle.Difference, held bool, err error) {
	r, storedErr := c.Names.Registration(ctx, name)
	if storedErr != nil && deed.CodeOf(storedErr) != deed.CodeNotFound {
		return nil, false, fmt.Errorf("read %s: %w", name, storedErr)
	}
	if c.Pace != nil && storedErr == nil {
		if err := c.Pace.Wait(ctx, r.Backend); err != nil {
			return nil, false, err
		}
	}
	h, registryErr := c.Manager.Holding(ctx, name)
	if registryErr != nil && deed.CodeOf(registryErr) != deed.CodeNotFound {
		return nil, false, fmt.Errorf("read %s from the registry: %w", name, registryErr)
	}
	switch {
	case storedErr != nil && registryErr != nil:
		return nil, false, nil // it has ended in between
	case storedErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersUnknown, Registry: "held until " + h.Expires.UTC().Format(time.RFC3339)}}, true, nil
	case registryErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersMissing, Stored: string(r.Status) + " of " + string(r.Owner)}}, false, nil
	}
	return r.Differences(h), true, nil
}
