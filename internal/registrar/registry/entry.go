package registry

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A RegistryEntry is a name as the embedded registry keeps it. The zero entry
// is a name that nobody ever had.
type Entry struct {
	Name        deed.Name
	Reference   string // of the order that brought it to its account
	Account     string // who has it
	Created     time.Time
	Moved       time.Time // here from another account; zero when it never was
	Expires     time.Time
	GraceDays   int
	Locked      bool
	AuthHash    string // of the one code that is good; "" when none is
	Nameservers []string
	DS          []dnssec.DS
	Transfer    string // reference of the transfer that is pending; "" when none is
}

// What a registry grants, and how far ahead it sells.
const (
	AddGraceDays     = 5  // a new name, and one that came from elsewhere, is marked for so long
	TransferLockDays = 60 // after a name is new or has moved, it stays where it is
	TransferDays     = 5  // the losing side may stop a transfer for so long
	MaxYears         = 10 // ahead of today, whatever is ordered
)

// Phase returns the phase of the name at that time.
func (e Entry) Phase(at time.Time) lifecycle.Phase {
	if e.Reference == "" {
		return lifecycle.PhaseGone
	}
	phase, _ := lifecycle.PhaseAt(e.Expires, e.GraceDays, at)
	return phase
}

// FreeAt returns when anybody may have the name again.
func (e Entry) FreeAt() time.Time {
	return e.Expires.AddDate(0, 0, e.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays)
}

// HeldAt says whether somebody has the name at that time.
func (e Entry) HeldAt(at time.Time) bool { return e.Phase(at) != lifecycle.PhaseGone }

// HeldBy says whether the account has the name at that time.
func (e Entry) HeldBy(account string, at time.Time) bool {
	return e.Account == account && e.HeldAt(at)
}

// MovableAt returns when the name may go to another account, if nobody locks it.
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
		Locked: e.Locked, Nameservers: e.Nameservers, DS: e.DS,
	}
}

// EPPStatus returns the statuses of the name at that time: those of RFC 5731,
// 2.3, then those of RFC 3915, 3.1. A name in redemption is not called
// pendingDelete as well, so that the list tells the phases apart.
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
