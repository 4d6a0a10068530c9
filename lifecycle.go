package deed

import "time"

// A Phase is a part of the life of a registered name:
//
//	active ─► grace ─► redemption ─► pending delete ─► gone
//	  ▲  └ expiry ┘         │
//	  └──── renewed ◄───────┘ restored
//
// In grace the name still works and can be renewed at the usual price; in
// redemption it works no more and can be restored for a fee; then it waits to be
// deleted, and is anybody's.
type Phase string

// The phases.
const (
	PhaseActive        Phase = "active"
	PhaseGrace         Phase = "grace"
	PhaseRedemption    Phase = "redemption"
	PhasePendingDelete Phase = "pending_delete"
	PhaseGone          Phase = "gone"
)

// The days of the later phases; those of grace differ by TLD.
const (
	RedemptionDays    = 30
	PendingDeleteDays = 5
)

// PhaseAt returns the phase of a name that expires then, whose registry grants
// so many days of grace, and when the phase ends.
func PhaseAt(expires time.Time, graceDays int, at time.Time) (Phase, time.Time) {
	end := expires
	for _, p := range []struct {
		phase Phase
		days  int
	}{{PhaseActive, 0}, {PhaseGrace, graceDays}, {PhaseRedemption, RedemptionDays}, {PhasePendingDelete, PendingDeleteDays}} {
		end = end.AddDate(0, 0, p.days)
		if at.Before(end) {
			return p.phase, end
		}
	}
	return PhaseGone, end
}
