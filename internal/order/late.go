package order

import "time"

// A LateOrder is an order whose job failed: its payment is refunded, and its registry
// may still execute it. It is looked up for LateWindow after the failure.
type LateOrder struct {
	Job    Job
	State  LateOrderState
	Checks int       // that were made
	Failed time.Time // when the job failed
	Found  time.Time // when the registry was found to have executed it; zero if it was not
	Detail string    // for operators: what was found, or why it is not deleted
}

// A LateOrderState is the state of a LateOrder:
//
//	watching ◄─► held ◄─► deleting ─► deleted
//	   ├─► unpaid  └─► ended   └─► watching
//	   └─► ended
//
// Watching: the registry has not executed it. Held: the registry has the name in our
// account, and nobody owns it: an orphan. Deleting: the name is being deleted, and is
// claimed so that nobody buys it in the meantime; if that becomes impossible, it is held.
// Until LateWindow is over, what is no longer an orphan is watched again, since each
// attempt of the job may be late. Unpaid: a renewal was executed after its refund, and
// the owner of the name keeps the years. Deleted, ended: the time is over, and the name
// is not an orphan.
type LateOrderState string

// The states of a late order.
const (
	LateWatching LateOrderState = "watching"
	LateHeld     LateOrderState = "held"
	LateDeleting LateOrderState = "deleting"
	LateDeleted  LateOrderState = "deleted"
	LateUnpaid   LateOrderState = "unpaid"
	LateEnded    LateOrderState = "ended"
)

// The times of the checks. An order of a registry in maintenance is executed within
// hours; what comes after a week is found by an operator who reads the registry's
// invoice.
const (
	LateWindow     = 7 * 24 * time.Hour
	lateFirstCheck = 5 * time.Minute // after the failure; then each wait is twice the last
	lateMaxWait    = 24 * time.Hour
)

// FirstLateCheck returns when an order is first looked up whose job failed now.
func FirstLateCheck(failed time.Time) time.Time { return failed.Add(lateFirstCheck) }

// NextCheck returns when the order is looked up again after a check that found nothing,
// and the zero time when it no longer is.
func (l LateOrder) NextCheck(now time.Time) time.Time {
	if now.After(l.Failed.Add(LateWindow)) {
		return time.Time{}
	}
	return now.Add(min(lateFirstCheck<<min(l.Checks, 10), lateMaxWait))
}

// Orphan reports whether the registry holds the name for nobody.
func (l LateOrder) Orphan() bool { return l.State == LateHeld || l.State == LateDeleting }
