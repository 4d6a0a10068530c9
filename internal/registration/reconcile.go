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

// A NameLister lists the names we hold.
type NameLister interface {
	// Every calls f for every name, with the transaction that paid for it.
	ForEach(ctx context.Context, f func(r lifecycle.Registration, txHash string) error) error

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Ordered says whether an order for the name is under way.
	Ordered(ctx context.Context, name deed.Name) (bool, error)
}

// A Reconciler compares every name we hold with every name that the registry
// holds for us. It changes nothing: Lifecycle does that, name by name. Fill
// every field.
type Reconciler struct {
	Names     NameLister
	Inventory registrar.Inventory
	Manager   registrar.Manager
	Pause     func(ctx context.Context) // as long as a change takes to be on both sides
}

// pageSize is how many names the registry is asked for at once.
const pageSize = 1000

// A Reconciliation is what a comparison has found.
type Reconciliation struct {
	Stored, Registry int // names
	Ordered          int // names that differ while an order for them is under way
	Differences      []lifecycle.Difference
}

// Run compares. Both sides go on while it reads them, so a name that seems to
// differ is looked at once more, by itself, and once more after a pause.
func (c Reconciler) Run(ctx context.Context) (out Reconciliation, err error) {
	ours := map[deed.Name]lifecycle.Registration{}
	err = c.Names.ForEach(ctx, func(r lifecycle.Registration, _ string) error {
		ours[r.Name] = r
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("read our names: %w", err)
	}
	out.Stored = len(ours)
	mismatched := map[deed.Name]bool{}
	for after := deed.Name(""); ; {
		page, err := c.Inventory.Holdings(ctx, after, pageSize)
		if err != nil {
			return out, fmt.Errorf("read the registry's names: %w", err)
		}
		for _, h := range page {
			r, known := ours[h.Name]
			if !known || len(r.Differences(h)) > 0 {
				mismatched[h.Name] = true
			}
			delete(ours, h.Name)
			after = h.Name
		}
		if out.Registry += len(page); len(page) < pageSize {
			break
		}
	}
	for name := range ours {
		mismatched[name] = true
	}
	if err = c.recheck(ctx, mismatched, &out); err == nil && len(mismatched) > 0 {
		c.Pause(ctx)
		err = c.recheck(ctx, mismatched, &out)
	}
	return out, err
}

// recheck compares names one by one, and drops those that are the same now.
func (c Reconciler) recheck(ctx context.Context, mismatched map[deed.Name]bool, out *Reconciliation) error {
	out.Ordered, out.Differences = 0, nil
	for _, name := range slices.Sorted(maps.Keys(mismatched)) {
		before, err := c.Names.Ordered(ctx, name)
		if err != nil {
			return fmt.Errorf("look for an order of %s: %w", name, err)
		}
		found, err := c.compare(ctx, name)
		if err != nil {
			return err
		}
		after, err := c.Names.Ordered(ctx, name) // it may have come meanwhile
		switch {
		case err != nil:
			return fmt.Errorf("look for an order of %s: %w", name, err)
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

// compare compares one name as both sides have it now.
func (c Reconciler) compare(ctx context.Context, name deed.Name) ([]lifecycle.Difference, error) {
	r, ourErr := c.Names.Registration(ctx, name)
	if ourErr != nil && deed.CodeOf(ourErr) != deed.CodeNotFound {
		return nil, fmt.Errorf("read %s: %w", name, ourErr)
	}
	h, theirErr := c.Manager.Holding(ctx, name)
	if theirErr != nil && deed.CodeOf(theirErr) != deed.CodeNotFound {
		return nil, fmt.Errorf("ask the registry for %s: %w", name, theirErr)
	}
	switch {
	case ourErr != nil && theirErr != nil:
		return nil, nil // it has ended meanwhile
	case ourErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersUnknown, Registry: "held until " + h.Expires.UTC().Format(time.RFC3339)}}, nil
	case theirErr != nil:
		return []lifecycle.Difference{{Name: name, What: lifecycle.DiffersMissing, Stored: string(r.Status) + " of " + string(r.Owner)}}, nil
	}
	return r.Differences(h), nil
}
