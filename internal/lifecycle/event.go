package lifecycle

import (
	"time"

	"deed.example/deed"
)

// An Event is something that happened, or is about to happen, to a registered name.
type Event struct {
	Name      deed.Name
	Reference string // of the registration that it happened to
	Type      EventType
	At        time.Time
	About     time.Time // the expiry it refers to
}

// An EventType says what happened.
type EventType string

// The events of a name. The first four are expiry notices.
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
	EventStayed        EventType = "transfer_out_stopped"
	EventLeft          EventType = "transferred_out"
	EventSuspended     EventType = "suspended"
	EventResumed       EventType = "resumed"
	EventHandedOver    EventType = "handed_over"
	EventDSWithdrawn   EventType = "ds_withdrawn"
	EventDelegated     EventType = "delegated"
	EventMoveRefused   EventType = "delegation_refused"
	EventKeyIntroduced EventType = "key_introduced"
	EventKeyReplaced   EventType = "key_replaced"
	EventCorrected     EventType = "corrected_by_registry"
	EventMissing       EventType = "missing_at_registry"
	EventCancelled     EventType = "cancelled"
	EventVerification  EventType = "verification_required"
	EventVerified      EventType = "verified"

	EventRegistrantSent    EventType = "registrant_sent"
	EventRegistrantRefused EventType = "registrant_refused"
)
