package sqldb

import "context"

// WakeJobs implements fulfil.JobQueue.
func (s Jobs) WakeJobs(ctx context.Context) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE jobs SET next_at = $1 WHERE next_at > $1 AND state = 'verifying'`, s.Now().Unix())
		return err
	})
}

// DueJobs implements fulfil.JobQueue.
func (s Jobs) DueJobs(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "id", from: "jobs", at: "next_at", where: "kind NOT LIKE 'dns%'"}, s.Now(), limit)
}

// DueChanges implements fulfil.JobQueue.
func (s Jobs) DueChanges(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "id", from: "jobs", at: "next_at", where: "kind LIKE 'dns%'"}, s.Now(), limit)
}
