package order

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
)

// A Job delivers what one payment bought.
type Job struct {
	ID        string // internal, derived from the payment's; registrar references begin with it
	PublicID  string // random, so it cannot be guessed
	PaymentID string
	Purchase  Purchase
	Owner     deed.Wallet // the payer
	State     JobState
	Reference string // of the registrar order, once submitted
	Backend   string // the registrar it was submitted to
	Attempts  int
	Submitted time.Time // time of the last attempt
	Lease     time.Time // until then the submitting process may still be working
	From      time.Time // the expiry that a renewal started at, once submitted
	Until     time.Time // the expiry after the completed job
	Revision  uint32    // of the zone, after a completed DNS change
	Refusal   deed.Code // the registrar's final refusal of the last attempt; "" if none
	Failure   string    // message for the buyer of a failed job
	Waiting   string    // what an open job waits for; "" while it makes progress
	Created   time.Time
	Updated   time.Time
	Deadline  time.Time
	Next      time.Time // when the worker advances it again; zero if it does not
	Steps     []Step
}

// JobID returns the ID of the job of a payment, which has at most one.
func JobID(paymentID string) string { return "job_" + strings.TrimPrefix(paymentID, "pay_") }

// OrderReference returns the reference of an attempt of a job. Only the registrar
// gets it. It derives from the payer and the nonce, so that an order can be found
// even after the database has lost it.
func OrderReference(jobID string, attempt int) string { return fmt.Sprintf("%s-%d", jobID, attempt) }

// JobOfReference returns the ID of the job that a reference belongs to.
func JobOfReference(reference string) string {
	if i := strings.LastIndexByte(reference, '-'); i >= 0 {
		return reference[:i]
	}
	return reference
}

// Placed is what a registrar knows of the orders of a job that the database has lost.
type Placed struct {
	Attempts int       // orders that were placed; 0 if none is known
	Backend  string    // the registrar of the last
	From     time.Time // the expiry that a renewal started at, if only that tells whether it is done
}

// A Step is a state of a job and the time it was reached.
type Step struct {
	State JobState
	At    time.Time
}

// Timeouts and limits of a job.
const (
	JobLease    = 30 * time.Second // covers one call to the registrar
	QuietWindow = 20 * time.Second // after the lease, before an absent order counts as not placed
	JobDeadline = 15 * time.Minute // before the payment is refunded
	JobAttempts = 3

	TransferDeadline = 8 * 24 * time.Hour // the losing registrar has five days to object
)

// A JobState is the state of a job:
//
//	awaiting_payment ─► queued ─► submitting ─► completed
//	    └─► cancelled     ▲  │        └─► verifying ─► completed | failed
//	                      │  └─► completed | failed
//	                      └── absent after the quiet window ──┘ (from verifying)
//
// Submitting: the order is being placed. Verifying: the order is looked up, whatever
// the registrar answered. Completed: a lookup has confirmed the order. Failed: the
// payment is refunded. A DNS change needs no registrar, so it goes from queued to its
// end in one step; so does a renewal of a name that has ended. Cancelled: the payment
// was never settled; if a transfer arrives after all, or differs from the
// authorization, the watcher fails the job and the transfer is refunded.
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

// jobTransitions are the arrows of the diagram above.
var jobTransitions = map[JobState][]JobState{
	JobAwaitingPayment: {JobQueued, JobCancelled},
	JobQueued:          {JobSubmitting, JobFailed, JobCompleted},
	JobSubmitting:      {JobCompleted, JobVerifying},
	JobVerifying:       {JobCompleted, JobFailed, JobQueued},
}

// Ended reports whether the state is final.
func (s JobState) Ended() bool { return len(jobTransitions[s]) == 0 }

// Legacy reports whether the job's public id derives from its payer and nonce, as
// in early versions. Such an id can be computed by anyone, so only the state of the
// job is disclosed for it.
func (j Job) Legacy() bool { return j.PublicID == j.ID }

// MayHoldClaim reports whether the job may have claimed its name: from the start, or for
// an attempt.
func (j Job) MayHoldClaim() bool { return j.Purchase.Kind.ClaimsName() || j.Attempts > 0 }

// CanBecome reports whether there is a transition from s to next.
func (s JobState) CanBecome(next JobState) bool { return slices.Contains(jobTransitions[s], next) }
