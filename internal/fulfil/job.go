package fulfil

import (
	"context"
	"fmt"
	"slices"

	"deed.example/deed/internal/order"
)

// JobStore reads jobs. The Kinds write them.
type JobStore interface {
	// Job returns the job with its steps, or CodeNotFound.
	Job(ctx context.Context, id string) (order.Job, error)

	// JobOf returns the job of the payment, or of the payment it is an alias of.
	JobOf(ctx context.Context, p order.Payment) (order.Job, error)

	// PublicJob returns the job with the public id, with its steps, or CodeNotFound.
	PublicJob(ctx context.Context, publicID string) (order.Job, error)
}

// JobQueue returns the jobs that are due. DNS changes have a queue of their own, so
// that a slow registrar does not delay them.
type JobQueue interface {
	DueJobs(ctx context.Context, limit int) ([]string, error)
	DueChanges(ctx context.Context, limit int) ([]string, error)

	// WakeJobs makes every open job due, after the registry's clock was moved.
	WakeJobs(ctx context.Context) error
}

// AdvanceJob makes the next step of a job, if one can be made now. It is safe for
// concurrent use by any number of processes.
func (s *Service) AdvanceJob(ctx context.Context, id string) error {
	j, err := s.Jobs.Job(ctx, id)
	if err != nil {
		return err
	}
	kind, err := s.kind(j.Purchase.Kind)
	if err == nil {
		err = kind.Advance(ctx, j)
	}
	if err != nil {
		return fmt.Errorf("advance job %s: %w", id, err)
	}
	return nil
}

// DueJobs returns jobs, other than DNS changes, that AdvanceJob should be called for now.
func (s *Service) DueJobs(ctx context.Context, limit int) ([]string, error) {
	due, err := s.JobQueue.DueJobs(ctx, limit)
	return s.working.without(due), err
}

// DueChanges returns jobs of DNS changes that AdvanceJob should be called for now.
func (s *Service) DueChanges(ctx context.Context, limit int) ([]string, error) {
	due, err := s.JobQueue.DueChanges(ctx, limit)
	return s.working.without(due), err
}

// WakeJobs makes every open job due, after the registry's clock was moved.
func (s *Service) WakeJobs(ctx context.Context) error { return s.JobQueue.WakeJobs(ctx) }

// PublicJob returns the job with the public id, or CodeNotFound.
func (s *Service) PublicJob(ctx context.Context, publicID string) (order.Job, error) {
	return s.Jobs.PublicJob(ctx, publicID)
}

// kind returns what sells and delivers a kind of purchase.
func (s *Service) kind(k order.PurchaseKind) (order.Kind, error) {
	for _, kind := range s.Kinds {
		if slices.Contains(kind.Sells(), k) {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("nothing here sells %q", k)
}
