package deed

import (
	"slices"
	"time"
)

// A Registration is a name that we hold for a wallet.
type Registration struct {
	Name    Name
	Owner   Wallet
	Status  Status
	Created time.Time
	Expires time.Time
}

// A Status says where a registration stands in its life.
type Status string

// The statuses a caller sees.
const (
	StatusPending       Status = "pending"
	StatusActive        Status = "active"
	StatusExpired       Status = "expired"
	StatusRedemption    Status = "redemption"
	StatusPendingDelete Status = "pending_delete"
	StatusTransferring  Status = "transferring"
	StatusTransferred   Status = "transferred"
	StatusSuspended     Status = "suspended"
)

// A Job is the work that one payment for a name has set going.
type Job struct {
	ID    string
	Name  Name
	Years int
	State JobState
}

// A JobState is a step in the life of a job:
//
//	awaiting_payment ─► queued ─► submitting ─► completed
//	    └─► cancelled     ▲           └─► verifying ─► completed | failed
//	                      └── absent after the quiet window ──┘
//
// Submitting: the registrar has been asked. Verifying: its answer was lost or
// said no, and we ask what became of it before anything else. Completed: a
// separate look-up has shown the name to be ours. Failed: the payment goes
// back. Cancelled: the money never came.
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

// jobArrows are the arrows of the drawing above.
var jobArrows = map[JobState][]JobState{
	JobAwaitingPayment: {JobQueued, JobCancelled},
	JobQueued:          {JobSubmitting},
	JobSubmitting:      {JobCompleted, JobVerifying},
	JobVerifying:       {JobCompleted, JobFailed, JobQueued},
}

// MayBecome says whether an arrow leads from s to next.
func (s JobState) MayBecome(next JobState) bool { return slices.Contains(jobArrows[s], next) }
