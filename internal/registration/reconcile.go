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
// registry. It is read-only: Lifecycle applies corrections. Fill every field.
type Reconciler struct {
	Names     NameLister
	Inventory registrar.Inventory
	Manager   registrar.Manager
	Pause     func(ctx context.Context) // long enough for a change to reach both sides
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
		stored[r.Name] = r
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("read the registrations: %w", err)
	}
	out.Stored = len(stored)
	mismatched := map[deed.Name]bool{}
	for after := deed.Name(""); ; {
		page, err := c.Inventory.Holdings(ctx, after, pageSize)
		if err != nil {
			return out, fmt.Errorf("read the registry's names: %w", err)
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
	refunded, err := c.Names.Refunded(ctx) // a registry without a list is asked about each
	if err != nil {
		return out, fmt.Errorf("read the refunded orders: %w", err)
	}
	for _, name := range refunded {
		mismatched[name] = true
	}
	if err = c.recheck(ctx, mismatched, &out); err == nil && len(mismatched) > 0 {
		c.Pause(ctx)
		err = c.recheck(ctx, mismatched, &out)
	}
	return out, err
}

// recheck compares names one by one, and drops those that no longer differ.
func (c Reconciler) recheck(ctx context.Context, mismatched map[deed.Name]bool, out *Reconciliation) error {
	out.Ordered, out.Differences = 0, nil
	for _, name := range slices.Sorted(maps.Keys(mismatched)) {
		before, err := c.Names.Ordered(ctx, name)
		if err != nil {
			return fmt.Errorf("check for an order of %s: %w", name, err)
		}
		found, err := c.compare(ctx, name)
		if err != nil {
			return err
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

// compare compares the current state of one name.
func (c Reconciler) compare(ctx context.Context, name deed.Name) ([]lifecycle.Difference, error) {
	r, storedErr := c.Names.Registration(ctx, name)
	if storedErr != nil && deed.CodeOf(storedErr) != deed.CodeNotFound {
		return nil, fmt.Errorf("read %s: %w", name, storedErr)
	}
	h, registryErr := c.Manager.Holding(ctx, name)
	if registryErr != nil && deed.CodeOf(registryErr) != deed.CodeNotFound {
		return nil, fmt.Errorf("read %s from the registry: %w", name, registryErr)
	}
	switch {
	case storedErr != nil && registryErr != nil:
		return nil, nil // it has ended in between
	case storedErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersUnknown, Registry: "held until " + h.Expires.UTC().Format(time.RFC3339)}}, nil
	case registryErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersMissing, Stored: string(r.Status) + " of " + string(r.Owner)}}, nil
	}
	return r.Differences(h), nil
}
