package registrar

import "context"

// A TermLimiter knows for how many years at once names can be ordered. A Registrar may
// implement it.
type TermLimiter interface {
	// CheckTerm fails with CodeValidation when a registration or renewal, whose reference may
	// be empty, is for another number of years. It changes nothing.
	CheckTerm(ctx context.Context, o Order) error
}

// CheckTerm implements TermLimiter with the backend that the name belongs to.
func (r *Router) CheckTerm(ctx context.Context, o Order) error {
	b, err := r.ordered(ctx, o)
	if err != nil {
		return err
	}
	limiter, ok := b.Registrar.(TermLimiter)
	if !ok {
		return nil
	}
	return limiter.CheckTerm(ctx, o)
}
