package lifecycle

import (
	"cmp"
	"slices"
	"time"
)

// A Phase is a phase in the lifecycle of a registered name:
//
//	active ─► grace ─► redemption ─► pending delete ─► gone
//	  ▲  └ expiry ┘         │
//	  └──── renewed ◄───────┘ restored
//
// In grace the name still resolves and can be renewed at the usual price. In
// redemption it no longer resolves and can be restored for a fee. Then it waits to
// be deleted, after which anyone can register it.
type Phase string

// The phases.
const (
	PhaseActive        Phase = "active"
	PhaseGrace         Phase = "grace"
	PhaseRedemption    Phase = "redemption"
	PhasePendingDelete Phase = "pending_delete"
	PhaseGone          Phase = "gone"
)

// The length of the later phases; the grace period differs by TLD.
const (
	RedemptionDays    = 30
	PendingDeleteDays = 5
)

// PhaseAt returns the phase that a name with the given expiry and grace period is
// in at a time, and when that phase ends.
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

// phaseStatus is the status of a name in each phase.
var phaseStatus = map[Phase]Status{
	PhaseActive:        StatusActive,
	PhaseGrace:         StatusExpired,
	PhaseRedemption:    StatusRedemption,
	PhasePendingDelete: StatusPendingDelete,
}

// notices are the expiry notices and their day relative to the expiry.
var notices = []struct {
	event EventType
	days  int
}{{EventExpiresIn30, -30}, {EventExpiresIn7, -7}, {EventExpiresIn1, -1}, {EventExpired3, 3}}

// phaseEvents are emitted when a name enters a phase.
var phaseEvents = map[Phase]EventType{
	PhaseGrace:         EventExpired,
	PhaseRedemption:    EventRedemption,
	PhasePendingDelete: EventPendingDelete,
	PhaseGone:          EventDeleted,
}

// A State is the lifecycle state of a registration at a point in time, with the
// events up to then and the time of the next transition.
type State struct {
	Phase  Phase
	Ends   time.Time // of the phase
	Status Status
	Events []Event // all that are due for the current expiry, recorded before or not
	Next   time.Time
}

// laterPhases are the phases after the expiry, with their length, in their order.
func laterPhases(graceDays int) []phaseDays {
	return []phaseDays{{PhaseGrace, graceDays}, {PhaseRedemption, RedemptionDays}, {PhasePendingDelete, PendingDeleteDays}, {PhaseGone, 0}}
}

type phaseDays struct {
	phase Phase
	days  int
}

// past reports whether a name can no longer be renewed at the usual price.
func (p Phase) past() bool { return p != PhaseActive && p != PhaseGrace }

// phaseAt returns the phase at a time and its end: the one that follows from the
// expiry, unless the registry reports another one.
func (r Registration) phaseAt(at time.Time, graceDays int) (Phase, time.Time) {
	phase, ends := PhaseAt(r.Expires, graceDays, at)
	switch word := r.Registry.Phase; {
	case word == PhaseRedemption:
		return word, r.Registry.Since.AddDate(0, 0, RedemptionDays)
	case word == PhasePendingDelete:
		return word, r.Registry.Since.AddDate(0, 0, PendingDeleteDays)
	case word == PhaseGrace && phase.past():
		return word, at.AddDate(0, 0, 1) // until when is not known: one more day
	}
	return phase, ends
}

// RegistryState returns what is stored about the registry's record. Its phase is included, with
// the time when it was first seen, only if it differs from that of the expiry.
func (r Registration) RegistryState(h Holding, graceDays int, at time.Time) RegistryState {
	out := RegistryState{Statuses: h.EPPStatus, ROID: cmp.Or(h.ROID, r.Registry.ROID), Verification: h.Verification}
	calendar, _ := PhaseAt(r.Expires, graceDays, at)
	word := h.Phase
	if word == PhaseActive {
		word = PhaseGrace // if the calendar differs, it is expired
	}
	switch {
	case word == "" || word == PhaseGone || word == calendar, !word.past() && !calendar.past():
		return out
	case word == r.Registry.Phase:
		out.Phase, out.Since = word, r.Registry.Since
	default:
		out.Phase, out.Since = word, at
	}
	return out
}

// StateAt returns the lifecycle state of a registration at a time, given the grace
// period of its registry. It depends on its arguments only, so calling it late or
// twice does no harm.
func (r Registration) StateAt(at time.Time, graceDays int) State {
	phase, ends := r.phaseAt(at, graceDays)
	st := State{Phase: phase, Ends: ends, Status: phaseStatus[phase], Next: ends}
	if r.Status == StatusTransferring && phase == PhaseActive {
		st.Status = StatusTransferring
	}
	for _, n := range notices {
		when := r.Expires.AddDate(0, 0, n.days)
		switch {
		case when.Before(r.Created):
		case !at.Before(when):
			st.Events = append(st.Events, r.event(n.event, when))
		case when.Before(st.Next):
			st.Next = when
		}
	}
	st.Events = append(st.Events, r.phaseEvents(phase, graceDays, at)...)
	return st
}

// phaseEvents returns the events of the phases up to the current one. If the registry
// began a phase early, its event has the time when that was noticed.
func (r Registration) phaseEvents(current Phase, graceDays int, at time.Time) (events []Event) {
	if current == PhaseActive {
		return nil
	}
	begin := r.Expires
	for _, p := range laterPhases(graceDays) {
		switch {
		case !at.Before(begin):
			events = append(events, r.event(phaseEvents[p.phase], begin))
		case p.phase == current:
			events = append(events, r.event(phaseEvents[p.phase], r.Registry.Since))
		}
		if p.phase == current {
			return events
		}
		begin = begin.AddDate(0, 0, p.days)
	}
	return events
}

func (r Registration) event(t EventType, at time.Time) Event {
	return Event{Name: r.Name, Reference: r.Reference, Type: t, At: at, About: r.Expires}
}

// Corrected returns the registration updated from the registry's record, and an
// event if anything changed. A zero expiry is ignored.
func (r Registration) Corrected(h Holding, at time.Time) (Registration, []Event) {
	is := r
	if !h.Expires.IsZero() {
		is.Expires = h.Expires
	}
	is.Locked, is.Nameservers = h.Locked, KeepOrder(r.Nameservers, h.Nameservers)
	if !sameMembers(r.DS, h.DS) {
		is.DS = h.DS
	}
	is.Glue = r.Glue.Corrected(r.Name, h.Nameservers, h.Glue)
	if is.Equal(r) {
		return is, nil
	}
	return is, []Event{{Name: r.Name, Reference: r.Reference, Type: EventCorrected, At: at, About: at}}
}

// Resolves reports whether a name in that status is served in the DNS. It is
// withdrawn once it can no longer be renewed at the usual price.
func (s Status) Resolves() bool {
	return s == StatusActive || s == StatusExpired || s == StatusTransferring
}

// registryStatuses are the statuses of RFC 5731 that only the registry knows; the
// others follow from our record.
var registryStatuses = []string{
	"clientDeleteProhibited", "clientHold", "clientRenewProhibited", "clientUpdateProhibited",
	"serverDeleteProhibited", "serverHold", "serverRenewProhibited", "serverTransferProhibited", "serverUpdateProhibited",
}

// EPPStatus returns the EPP status codes of the name (RFC 5731, RFC 3915).
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
		words = append(words, eppPendingTransfer)
	case StatusSuspended:
		if !onHold(r.Registry.Statuses) {
			words = append(words, "serverHold")
		}
	}
	if r.Locked {
		words = append(words, "clientTransferProhibited")
	}
	for _, s := range r.Registry.Statuses {
		if slices.Contains(registryStatuses, s) && !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	if len(words) == 0 {
		words = append(words, "ok")
	}
	return words
}

func onHold(statuses []string) bool {
	return slices.Contains(statuses, "serverHold") || slices.Contains(statuses, "clientHold")
}

// OnHold reports whether the registry does not publish the delegation of the name.
func (r Registration) OnHold() bool { return onHold(r.Registry.Statuses) }

// WithHold returns the status with the registry's hold taken into account: a name on hold
// does not resolve, whatever its phase.
func (s Status) WithHold(statuses []string) Status {
	if s.Resolves() && onHold(statuses) {
		return StatusSuspended
	}
	return s
}
