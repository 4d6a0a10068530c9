package lifecycle

import (
	"time"

	"deed.example/deed"
)

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

// phaseStatus is what a caller is told of a name in each phase.
var phaseStatus = map[Phase]Status{
	PhaseActive:        StatusActive,
	PhaseGrace:         StatusExpired,
	PhaseRedemption:    StatusRedemption,
	PhasePendingDelete: StatusPendingDelete,
}

// An Event is something that happened, or is about to happen, to a name we hold.
type Event struct {
	Name      deed.Name
	Reference string // of the registration that it happened to
	Type      EventType
	At        time.Time
	About     time.Time // the expiry it speaks of
}

// An EventType says what happened.
type EventType string

// The events of a name. The first four are the notices of its expiry.
const (
	EventExpiresIn30 EventType = "expires_in_30_days"
	EventExpiresIn7  EventType = "expires_in_7_days"
	EventExpiresIn1  EventType = "expires_in_1_day"
	EventExpired3    EventType = "expired_3_days_ago"

	EventRegistered    EventType = "registered"
	EventTransferredIn EventType = "transferred_in"
	EventRenewed       EventType = "renewed"
	EventExpired       EventType = "expired"
	EventRedemption    EventType = "redemption"
	EventPendingDelete EventType = "pending_delete"
	EventDeleted       EventType = "deleted"
	EventLeaving       EventType = "transfer_out_started"
	EventLeft          EventType = "transferred_out"
	EventHandedOver    EventType = "handed_over"
	EventCorrected     EventType = "corrected_by_registry"
	EventMissing       EventType = "missing_at_registry"
)

// notices are given so many days after the expiry, or before it.
var notices = []struct {
	event EventType
	days  int
}{{EventExpiresIn30, -30}, {EventExpiresIn7, -7}, {EventExpiresIn1, -1}, {EventExpired3, 3}}

// phaseEvents are told when a name enters a phase.
var phaseEvents = map[Phase]EventType{
	PhaseGrace:         EventExpired,
	PhaseRedemption:    EventRedemption,
	PhasePendingDelete: EventPendingDelete,
	PhaseGone:          EventDeleted,
}

// A Life is where a registration stands at a moment, what has happened to it by
// then, and when to look again.
type State struct {
	Phase  Phase
	Ends   time.Time // of the phase
	Status Status
	Events []Event // all of its present expiry that are due, told before or not
	Next   time.Time
}

// LifeAt returns the life of a registration whose registry grants so many days
// of grace. It is the same whenever it is asked, so asking late or twice does no
// harm.
func (r Registration) LifeAt(at time.Time, graceDays int) State {
	phase, ends := PhaseAt(r.Expires, graceDays, at)
	l := State{Phase: phase, Ends: ends, Status: phaseStatus[phase], Next: ends}
	if r.Status == StatusTransferring && phase == PhaseActive {
		l.Status = StatusTransferring
	}
	for _, n := range notices {
		when := r.Expires.AddDate(0, 0, n.days)
		switch {
		case when.Before(r.Created):
		case !at.Before(when):
			l.Events = append(l.Events, r.event(n.event, when))
		case when.Before(l.Next):
			l.Next = when
		}
	}
	begin := r.Expires
	for _, p := range []struct {
		phase Phase
		days  int
	}{{PhaseGrace, graceDays}, {PhaseRedemption, RedemptionDays}, {PhasePendingDelete, PendingDeleteDays}, {PhaseGone, 0}} {
		if !at.Before(begin) {
			l.Events = append(l.Events, r.event(phaseEvents[p.phase], begin))
		}
		begin = begin.AddDate(0, 0, p.days)
	}
	return l
}

func (r Registration) event(t EventType, at time.Time) Event {
	return Event{Name: r.Name, Reference: r.Reference, Type: t, At: at, About: r.Expires}
}

// Corrected returns the registration with what the registry says of it, and an
// event when that was something else. It never takes a date over that is none.
func (r Registration) Corrected(h Holding, at time.Time) (Registration, []Event) {
	is := r
	if !h.Expires.IsZero() {
		is.Expires = h.Expires
	}
	is.Locked, is.Nameservers, is.DS = h.Locked, h.Nameservers, h.DS
	if is.Equal(r) {
		return is, nil
	}
	return is, []Event{{Name: r.Name, Reference: r.Reference, Type: EventCorrected, At: at, About: at}}
}

// Resolves says whether a name in that status is answered for in the DNS: it
// goes dark when it can no longer simply be renewed.
func (s Status) Resolves() bool {
	return s == StatusActive || s == StatusExpired || s == StatusTransferring
}

// EPPStatus returns the status of the name in the words of registries (RFC 5731,
// RFC 3915).
func (r Registration) EPPStatus() []string {
	var words []string
	switch r.Status {
	case StatusExpired:
		words = append(words, "autoRenewPeriod")
	case StatusRedemption:
		words = append(words, "pendingDelete", "redemptionPeriod", "serverHold")
	case StatusPendingDelete:
		words = append(words, "pendingDelete", "serverHold")
	case StatusTransferring:
		words = append(words, "pendingTransfer")
	case StatusSuspended:
		words = append(words, "serverHold")
	}
	if r.Locked {
		words = append(words, "clientTransferProhibited")
	}
	if len(words) == 0 {
		words = append(words, "ok")
	}
	return words
}
