package registrar

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deed.example/deed"
)

var _ BulkChecker = (*Router)(nil)

// batchSize is how many names are checked with one call, if the backend can.
const batchSize = 50

// Batches divides names into those that one call of AvailableAll checks: they belong to
// the same backend, so that a slow one does not delay the others.
func (r *Router) Batches(names []deed.Name) (batches [][]deed.Name) {
	open := map[string]int{} // the batch of each backend that is not full
	for _, name := range names {
		b, err := r.Seller(name.TLD())
		_, bulk := b.Registrar.(BulkChecker)
		if err != nil || !bulk {
			batches = append(batches, []deed.Name{name})
			continue
		}
		i, ok := open[b.Name]
		if !ok || len(batches[i]) == batchSize {
			i = len(batches)
			open[b.Name], batches = i, append(batches, nil)
		}
		batches[i] = append(batches[i], name)
	}
	return batches
}

// AvailableAll implements BulkChecker, one batch after the other. What a backend fails
// to answer is unknown; it fails only when nothing is known.
func (r *Router) AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]Availability, error) {
	out := make(map[deed.Name]Availability, len(names))
	var failed error
	for _, batch := range r.Batches(names) {
		answers, err := r.availableBatch(ctx, batch)
		failed = errors.Join(failed, err)
		if err == nil {
			maps.Copy(out, answers)
		}
	}
	if len(out) == 0 {
		return nil, failed
	}
	return out, nil
}

// availableBatch checks names of one backend. Answers about other names are left out.
func (r *Router) availableBatch(ctx context.Context, names []deed.Name) (map[deed.Name]Availability, error) {
	b, err := r.Seller(names[0].TLD())
	if err != nil {
		return nil, err
	}
	bulk, ok := b.Registrar.(BulkChecker)
	if !ok || len(names) == 1 {
		a, err := r.Available(ctx, names[0])
		return map[deed.Name]Availability{names[0]: a}, err
	}
	answers, err := observed(ctx, r, b, "available", func(ctx context.Context) (map[deed.Name]Availability, error) { return bulk.AvailableAll(ctx, names) })
	maps.DeleteFunc(answers, func(name deed.Name, _ Availability) bool { return !slices.Contains(names, name) })
	return answers, err
}
