package registry

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// An Entry is a name in the embedded registry. The zero entry is a name that was
// never registered.
type Entry struct {
	Name        deed.Name
	Reference   string // of the registration or transfer to its account
	Account     string // the holder
	Created     time.Time
	Moved       time.Time // time of the last transfer; zero when there was none
	Expires     time.Time
	GraceDays   int
	Locked      bool
	AuthHash    string // of the valid code; "" when there is none
	Nameservers []string
	Glue        lifecycle.Glue // of the name servers below the name
	DS          []dnssec.DS
	Registrant  string // reference of the contact of its owner; "" for that of the account
	Transfer    string // reference of the pending transfer; "" when there is none
}

// Periods of the registry, and the maximum term.
const (
	AddGraceDays     = 5  // addPeriod of a new name, transferPeriod of a transferred one
	TransferLockDays = 60 // no transfer within this time of the registration or last transfer
	TransferDays     = 5  // the losing registrar may reject a transfer within this time
	MaxYears         = 10 // maximum term from today
)

// Phase returns the phase of the name at that time.
func (e Entry) Phase(at time.Time) lifecycle.Phase {
	if e.Reference == "" {
		return lifecycle.PhaseGone
	}
	phase, _ := lifecycle.PhaseAt(e.Expires, e.GraceDays, at)
	return phase
}

// FreeAt returns when the name becomes available again.
func (e Entry) FreeAt() time.Time {
	return e.Expires.AddDate(0, 0, e.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays)
}

// HeldAt reports whether the name is registered at that time.
func (e Entry) HeldAt(at time.Time) bool { return e.Phase(at) != lifecycle.PhaseGone }

// HeldBy reports whether the account has the name at that time.
func (e Entry) HeldBy(account string, at time.Time) bool {
	return e.Account == account && e.HeldAt(at)
}

// MovableAt returns when the name may be transferred, unless it is locked.
func (e Entry) MovableAt() time.Time {
	since := e.Created
	if e.Moved.After(since) {
		since = e.Moved
	}
	return since.AddDate(0, 0, TransferLockDays)
}

// Holding returns the entry as its holder sees it.
func (e Entry) Holding(at time.Time) lifecycle.Holding {
	return lifecycle.Holding{
		Name: e.Name, Reference: e.Reference, Created: e.Created, Expires: e.Expires,
		Phase: e.Phase(at), EPPStatus: e.EPPStatus(at),
		Locked: e.Locked, Nameservers: e.Nameservers, Glue: e.Glue, DS: e.DS,
	}
}

// EPPStatus returns the statuses of the name at that time: those of RFC 5731, 2.3,
// then those of RFC 3915, 3.1. Both in redemption and in pending delete a name has
// pendingDelete; redemptionPeriod distinguishes the phases.
func (e Entry) EPPStatus(at time.Time) []string {
	var statuses, periods []string
	if e.Locked {
		statuses = append(statuses, "clientTransferProhibited")
	}
	if at.Before(e.MovableAt()) {
		statuses = append(statuses, "serverTransferProhibited")
	}
	if e.Transfer != "" {
		statuses = append(statuses, "pendingTransfer")
	}
	if at.Before(e.Created.AddDate(0, 0, AddGraceDays)) {
		periods = append(periods, "addPeriod")
	}
	if at.Before(e.Moved.AddDate(0, 0, AddGraceDays)) {
		periods = append(periods, "transferPeriod")
	}
	switch e.Phase(at) {
	case lifecycle.PhaseGrace:
		periods = append(periods, "autoRenewPeriod")
	case lifecycle.PhaseRedemption:
		statuses, periods = append(statuses, "serverHold", "pendingDelete"), append(periods, "redemptionPeriod")
	case lifecycle.PhasePendingDelete:
		statuses = append(statuses, "serverHold", "pendingDelete")
	}
	if len(statuses) == 0 {
		statuses = []string{"ok"}
	}
	return append(statuses, periods...)
}
