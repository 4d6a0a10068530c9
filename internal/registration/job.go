package registration

import (
	"context"

	"deed.example/deed/internal/order"
)

// Job returns the job with a public id, or CodeNotFound.
func (s *Service) Job(ctx context.Context, publicID string) (order.Job, error) {
	return s.Finder.PublicJob(ctx, publicID)
}
