package deed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Registration is a name that we hold for a wallet.
type Registration struct {
	Name      Name
	Owner     Wallet
	Status    Status
	Reference string // of the order at the registrar that brought it
	PaymentID string // that bought it
	Created   time.Time
	Expires   time.Time
	Updated   time.Time

	Locked         bool // against a transfer to another registrar
	Nameservers    []string
	DS             []DS
	PremiumRenewal USDC // what a year of a premium name costs us; 0 for the price of its TLD
}

// OwnedBy fails with CodeOwnershipDenied unless who owns the name.
func (r Registration) OwnedBy(who Wallet) error {
	if r.Owner != who {
		return Errorf(CodeOwnershipDenied, "%s belongs to another wallet", r.Name)
	}
	return nil
}

// Equal says whether nothing has changed between r and o that callers see.
func (r Registration) Equal(o Registration) bool {
	return r.Owner == o.Owner && r.Status == o.Status && r.Expires.Equal(o.Expires) && r.Locked == o.Locked &&
		slices.Equal(r.Nameservers, o.Nameservers) && slices.Equal(r.DS, o.DS)
}

// An Act is something that the owner of a name did to it. Acts are written down
// and never taken back.
type Act struct {
	Wallet Wallet // who did it
	Kind   ActKind
	Detail string // the new owner, the new name servers
	After  int    // of a hand-over: how many acts came before it
}

// ErrMeanwhile says that the owner of a name did something with it between two
// steps of a hand-over.
var ErrMeanwhile = errors.New("the owner did something else with the name meanwhile")

// An ActKind says what was done.
type ActKind string

// The kinds of act.
const (
	ActAuthCode    ActKind = "authcode"
	ActLock        ActKind = "lock"
	ActUnlock      ActKind = "unlock"
	ActNameservers ActKind = "nameservers"
	ActHandover    ActKind = "handover"
)

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

// statuses are all of them.
var statuses = []Status{
	StatusPending, StatusActive, StatusExpired, StatusRedemption, StatusPendingDelete, StatusTransferring, StatusTransferred, StatusSuspended,
}

// Known says whether there is such a status.
func (s Status) Known() bool { return slices.Contains(statuses, s) }

// StatusWords lists the statuses for a person.
func StatusWords() string {
	words := make([]string, len(statuses))
	for i, s := range statuses {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// A Job is the work that one payment for a name has set going.
type Job struct {
	ID        string // ours alone, as that of its payment; a registrar's reference begins with it
	PublicID  string // random: whoever knows it was told it by us
	PaymentID string
	Purchase  Purchase
	Owner     Wallet // the payer
	State     JobState
	Reference string // of the order at the registrar, once it is submitted
	Attempts  int
	Submitted time.Time // the last attempt
	Lease     time.Time // until then the process that submitted is, or was, at work
	From      time.Time // the expiry that a renewal began at, once it is submitted
	Until     time.Time // the expiry that the completed job left behind
	Revision  uint32    // of the zone, that the completed change of its DNS left behind
	Refusal   Code      // the registrar's final no to the last attempt; "" when there was none
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

// jobArrows are the arrows of the drawing above.
var jobArrows = map[JobState][]JobState{
	JobAwaitingPayment: {JobQueued, JobCancelled},
	JobQueued:          {JobSubmitting, JobFailed, JobCompleted},
	JobSubmitting:      {JobCompleted, JobVerifying},
	JobVerifying:       {JobCompleted, JobFailed, JobQueued},
}

// Ended says whether nothing more happens to a job in this state.
func (s JobState) Ended() bool { return len(jobArrows[s]) == 0 }

// Legacy says whether the job's public id was made from its payer and nonce, as
// all were once. Anybody can compute such an id, so it tells the state only.
func (j Job) Legacy() bool { return j.PublicID == j.ID }

// MayBecome says whether an arrow leads from s to next.
func (s JobState) MayBecome(next JobState) bool { return slices.Contains(jobArrows[s], next) }
