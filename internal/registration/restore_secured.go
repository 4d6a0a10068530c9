package registration

import (
	"context"
	"errors"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// SecuredCancellations stores open cancellations whose names could not leave our account
// when the backup was made.
type SecuredCancellations interface {
	SecuredCancellations(ctx context.Context) ([]lifecycle.Cancellation, error)

	// UnsecureCancellation stores that the name may leave our account: the next attempt
	// secures it again. It fails when another process has taken the cancellation over.
	UnsecureCancellation(ctx context.Context, c lifecycle.Cancellation) error

	// KeepName ends the cancellation without effect, for c.Reason.
	KeepName(ctx context.Context, c lifecycle.Cancellation) error
}

// recheckSecured looks at the names of open cancellations. A cancellation may have ended
// since the backup without effect, and its owner may have unlocked the name and moved it to
// another registrar: that a name is not in our account then does not say that it was deleted.
func (r *Restore) recheckSecured(ctx context.Context, dryRun bool) error {
	all, err := r.Cancels.SecuredCancellations(ctx)
	if err != nil {
		return fmt.Errorf("read open cancellations: %w", err)
	}
	var errs []error
	for _, c := range all {
		if err := r.recheck(ctx, c, dryRun); err != nil {
			errs = append(errs, fmt.Errorf("check the cancellation of %s: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Restore) recheck(ctx context.Context, c lifecycle.Cancellation, dryRun bool) error {
	h, err := r.Holdings.Holding(ctx, c.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return r.keepUnlessFree(ctx, c, dryRun)
	case err != nil:
		return err
	case isDeleted(c, h, nil) || dryRun:
		return nil
	case r.Now().Before(c.Quiet):
		return fmt.Errorf("it may be deleted until %s: run this again after that", c.Quiet.UTC().Format("15:04:05 UTC"))
	}
	return r.Cancels.UnsecureCancellation(ctx, c)
}

// keepUnlessFree ends the cancellation of a name that left our account, unless anybody can
// register the name: then it was deleted, and the next attempt makes its refund due.
func (r *Restore) keepUnlessFree(ctx context.Context, c lifecycle.Cancellation, dryRun bool) error {
	a, err := r.Lookup.Available(ctx, c.Name)
	if err != nil || a.Available || dryRun {
		return err
	}
	c.Reason = fmt.Sprintf("%s left our account at the registry, and is not free: nothing is refunded", c.Name)
	return r.Cancels.KeepName(ctx, c)
}
