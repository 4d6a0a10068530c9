package sqldb_test

import (
	"testing"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A node may complete a job while a restore is being finished: what was decided on the
// job as it was before is not written.
func TestRestoreLeavesJobsThatWereMoved(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		payments, p := consumed(t, db)
		jobs := sqldb.Jobs{DB: db, Now: payments.Now, Zones: sqldbtest.Zones(db, payments.Now)}
		done, err := jobs.Job(t.Context(), order.JobID(p.ID))
		if err != nil || done.State != order.JobCompleted {
			t.Fatalf("got %s, %v", done.State, err)
		}
		for _, state := range []order.JobState{order.JobAwaitingPayment, order.JobQueued, order.JobSubmitting, order.JobVerifying} {
			was := done
			was.State = state
			if err := jobs.ResumeJob(t.Context(), was, order.Placed{Attempts: done.Attempts + 1}); err != nil {
				t.Errorf("resume a job that was %s: %v", state, err)
			}
			if err := jobs.CompleteRenewal(t.Context(), was, order.Placed{Attempts: done.Attempts + 1}, noon); err != nil {
				t.Errorf("complete a job that was %s: %v", state, err)
			}
		}
		got, err := jobs.Job(t.Context(), done.ID)
		if err != nil || got.State != order.JobCompleted || got.Attempts != done.Attempts || got.Reference != done.Reference {
			t.Errorf("got %s, %d attempts, %v", got.State, got.Attempts, err)
		}
		if text, err := db.Text(t.Context(), `SELECT count(*) FROM claims`); err != nil || text != "0" {
			t.Errorf("got %s claims, %v", text, err)
		}
	})
}
