package registrar

import "context"

// observe makes a call between the two parts of Observe.
func (r *Router) observe(ctx context.Context, b Backend, call string, f func(context.Context) error) error {
	if r.Observe == nil {
		return f(ctx)
	}
	ctx, end := r.Observe(ctx, b.Name, call)
	err := f(ctx)
	end(err)
	return err
}

// observed is observe for a call with a result.
func observed[T any](ctx context.Context, r *Router, b Backend, call string, f func(context.Context) (T, error)) (out T, err error) {
	err = r.observe(ctx, b, call, func(ctx context.Context) error { out, err = f(ctx); return err })
	return out, err
}
