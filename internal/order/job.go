package order

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
)

// A Job is the work that one payment for a name has set going.
type Job struct {
	ID        string // ours alone, as that of its payment; a registrar's reference begins with it
	PublicID  string // random: whoever knows it was told it by us
	PaymentID string
	Purchase  Purchase
	Owner     deed.Wallet // the payer
	State     JobState
	Reference string // of the order at the registrar, once it is submitted
	Attempts  int
	Submitted time.Time // the last attempt
	Lease     time.Time // until then the process that submitted is, or was, at work
	From      time.Time // the expiry that a renewal began at, once it is submitted
	Until     time.Time // the expiry that the completed job left behind
	Revision  uint32    // of the zone, that the completed change of its DNS left behind
	Refusal   deed.Code // the registrar's final no to the last attempt; "" when there was none
	Failure   string    // one sentence for the buyer, once it failed
	Created   time.Time
	Updated   time.Time
	Deadline  time.Time
	Steps     []Step
}

// JobID names the job of a payment; there is one at most.
func JobID(paymentID string) string { return "job_" + strings.TrimPrefix(paymentID, "pay_") }

// OrderReference names an attempt of a job at the registrar, which is told it and
// nobody else. It follows from the payer and the nonce, so that an order can be
// found after the database has forgotten it.
func OrderReference(jobID string, attempt int) string { return fmt.Sprintf("%s-%d", jobID, attempt) }

// A Step is a state of a job and when it was reached.
type Step struct {
	State JobState
	At    time.Time
}

// How long a job waits for what.
const (
	JobLease    = 30 * time.Second // for the registrar's answer
	QuietWindow = 20 * time.Second // after the lease, before an order that is absent counts as not placed
	JobDeadline = 15 * time.Minute // before the buyer gets the money back
	JobAttempts = 3

	TransferDeadline = 8 * 24 * time.Hour // the registrar that loses a name has five days to object
)

// Deadline returns when a job that is created then must be at its end.
func (p Purchase) Deadline(created time.Time) time.Time {
	if p.Kind == PurchaseTransfer {
		return created.Add(TransferDeadline)
	}
	return created.Add(JobDeadline)
}

// A JobState is a step in the life of a job:
//
//	awaiting_payment ─► queued ─► submitting ─► completed
//	    └─► cancelled     ▲  │        └─► verifying ─► completed | failed
//	                      │  └─► completed | failed
//	                      └── absent after the quiet window ──┘ (from verifying)
//
// Submitting: the registrar has been asked. Verifying: its answer was lost or
// said no, and we ask what became of it before anything else. Completed: a
// separate look-up has shown the name to be ours. Failed: the payment goes
// back. A change of the DNS is ours to make, so it goes from queued to its end in
// one step; so does a renewal of a name that is no longer there. Cancelled: the
// money never came; if it comes after all, or comes in another way than it was
// promised, the watcher makes the job a failed one and the money goes back.
type JobState string

// The states of a job.
const (
	JobAwaitingPayment JobState = "awaiting_payment"
	JobQueued          JobState = "queued"
	JobSubmitting      JobState = "submitting"
	JobVerifying       JobState = "verifying"
	JobCompleted       JobState = "completed"
	JobFailed          JobState = "failed"
	JobCancelled       JobState = "cancelled"
)

// jobTransitions are the arrows of the drawing above.
var jobTransitions = map[JobState][]JobState{
	JobAwaitingPayment: {JobQueued, JobCancelled},
	JobQueued:          {JobSubmitting, JobFailed, JobCompleted},
	JobSubmitting:      {JobCompleted, JobVerifying},
	JobVerifying:       {JobCompleted, JobFailed, JobQueued},
}

// Ended says whether nothing more happens to a job in this state.
func (s JobState) Ended() bool { return len(jobTransitions[s]) == 0 }

// Legacy says whether the job's public id was made from its payer and nonce, as
// all were once. Anybody can compute such an id, so it tells the state only.
func (j Job) Legacy() bool { return j.PublicID == j.ID }

// CanBecome says whether an arrow leads from s to next.
func (s JobState) CanBecome(next JobState) bool { return slices.Contains(jobTransitions[s], next) }
