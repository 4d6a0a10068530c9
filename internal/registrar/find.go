package registrar

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"deed.example/deed"
)

// An OrderFinder finds an order by its reference alone, for orders that are no
// longer in the database. A Registrar may implement it.
type OrderFinder interface {
	// FindOrder returns the order, without its auth code, or CodeNotFound. A Router
	// fails with ErrOrdersNotSearchable when nothing is known about the order.
	FindOrder(ctx context.Context, reference string) (Order, error)
}

// ErrOrdersNotSearchable is wrapped by the error for an order that was not found, when
// it may be at a registrar that cannot find orders by their reference.
var ErrOrdersNotSearchable = errors.New("orders cannot be found by their reference")

// FindOrder implements OrderFinder with the backends that can find orders by their
// reference. An order that none of them has may be at any of the others, because its
// name is not known.
func (r *Router) FindOrder(ctx context.Context, reference string) (Order, error) {
	var unable []string
	for _, b := range r.backends {
		finder, ok := b.Registrar.(OrderFinder)
		if !ok {
			unable = append(unable, b.Name)
			continue
		}
		o, err := observed(ctx, r, b, "find_order", func(ctx context.Context) (Order, error) { return finder.FindOrder(ctx, reference) })
		if deed.CodeOf(err) == deed.CodeNotFound {
			continue
		}
		o.Backend = b.Name
		return o, err
	}
	if len(unable) > 0 {
		return Order{}, fmt.Errorf("registrar %s: %w", strings.Join(unable, ", "), ErrOrdersNotSearchable)
	}
	return Order{}, deed.Errorf(deed.CodeNotFound, "no registrar has an order %s", reference)
}
