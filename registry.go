package deed

import "time"

// A RegistryEntry is a name as the embedded registry keeps it. The zero entry
// is a name that nobody ever had.
type RegistryEntry struct {
	Name        Name
	Reference   string // of the order that brought it to its account
	Account     string // who has it
	Created     time.Time
	Moved       time.Time // here from another account; zero when it never was
	Expires     time.Time
	GraceDays   int
	Locked      bool
	AuthHash    string // of the one code that is good; "" when none is
	Nameservers []string
	DS          []DS
	Transfer    string // reference of the transfer that is pending; "" when none is
}

// What a registry grants, and how far ahead it sells.
const (
	AddGraceDays      = 5  // a new name, and one that came from elsewhere, is marked for so long
	TransferLockDays  = 60 // after a name is new or has moved, it stays where it is
	TransferDays      = 5  // the losing side may stop a transfer for so long
	RegistryMostYears = 10 // ahead of today, whatever is ordered
)

// Phase returns the phase of the name at that time.
func (e RegistryEntry) Phase(at time.Time) Phase {
	if e.Reference == "" {
		return PhaseGone
	}
	phase, _ := PhaseAt(e.Expires, e.GraceDays, at)
	return phase
}

// FreeAt returns when anybody may have the name again.
func (e RegistryEntry) FreeAt() time.Time {
	return e.Expires.AddDate(0, 0, e.GraceDays+RedemptionDays+PendingDeleteDays)
}

// HeldAt says whether somebody has the name at that time.
func (e RegistryEntry) HeldAt(at time.Time) bool { return e.Phase(at) != PhaseGone }

// HeldBy says whether the account has the name at that time.
func (e RegistryEntry) HeldBy(account string, at time.Time) bool {
	return e.Account == account && e.HeldAt(at)
}

// MovableAt returns when the name may go to another account, if nobody locks it.
func (e RegistryEntry) MovableAt() time.Time {
	since := e.Created
	if e.Moved.After(since) {
		since = e.Moved
	}
	return since.AddDate(0, 0, TransferLockDays)
}

// Holding returns the entry as its holder sees it.
func (e RegistryEntry) Holding(at time.Time) Holding {
	return Holding{
		Name: e.Name, Reference: e.Reference, Created: e.Created, Expires: e.Expires,
		Phase: e.Phase(at), EPPStatus: e.EPPStatus(at),
		Locked: e.Locked, Nameservers: e.Nameservers, DS: e.DS,
	}
}

// EPPStatus returns the statuses of the name at that time: those of RFC 5731,
// 2.3, then those of RFC 3915, 3.1. A name in redemption is not called
// pendingDelete as well, so that the list tells the phases apart.
func (e RegistryEntry) EPPStatus(at time.Time) []string {
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
	case PhaseGrace:
		periods = append(periods, "autoRenewPeriod")
	case PhaseRedemption:
		statuses, periods = append(statuses, "serverHold", "pendingDelete"), append(periods, "redemptionPeriod")
	case PhasePendingDelete:
		statuses = append(statuses, "serverHold", "pendingDelete")
	}
	if len(statuses) == 0 {
		statuses = []string{"ok"}
	}
	return append(statuses, periods...)
}
