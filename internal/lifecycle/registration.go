package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Registration is our record of a name registered for a wallet.
type Registration struct {
	Name      deed.Name
	Owner     deed.Wallet
	Status    Status
	Reference string // of the registrar order that registered it
	Backend   string // the registrar that holds it
	PaymentID string // of the payment for it
	Created   time.Time
	Expires   time.Time
	Updated   time.Time

	Locked         bool // against a transfer to another registrar
	Nameservers    []string
	Glue           Glue // of the name servers below the name
	DS             []dnssec.DS
	DSSeen         time.Time // when the registry may last have had a DS that is not in DS, by its clock
	PremiumRenewal deed.USDC // wholesale price of a year of a premium name; 0 for the price of its TLD
	Cancelling     bool      // a Cancellation is in progress

	// OurServersUntil is when the registry may last have had one of the service's own name
	// servers, if it has others now, by its clock.
	OurServersUntil time.Time

	Registry RegistryState // what the registry said the last time
	Compared time.Time     // when that was, by the registry's clock
}

// A RegistryState is what a registry says about the state of a name. It is zero until
// the registry was asked.
type RegistryState struct {
	Statuses []string  // of RFC 5731 and 3915
	Phase    Phase     // "" if it is not known
	Since    time.Time // when the name was first seen in that phase, by the registry's clock
	ROID     string    // the registry's identifier of the name (RFC 5730, 2.8); "" if it is not known

	Verification Verification // that the registry demands
}

// A Verification says what a registry requires to be verified about the registrant of
// a name. The zero value requires nothing.
type Verification struct {
	Claims   []string  // "name", "address", "email", "phone", or what else the registry calls it
	Deadline time.Time // when the name stops working otherwise; zero when the registry has not said
}

// Required reports whether anything is required.
func (v Verification) Required() bool { return len(v.Claims) > 0 }

// Equal reports whether v and o require the same.
func (v Verification) Equal(o Verification) bool {
	return slices.Equal(v.Claims, o.Claims) && v.Deadline.Equal(o.Deadline)
}

// Equal reports whether s and o are the same.
func (s RegistryState) Equal(o RegistryState) bool {
	return s.Phase == o.Phase && s.Since.Equal(o.Since) && slices.Equal(s.Statuses, o.Statuses) && s.ROID == o.ROID && s.Verification.Equal(o.Verification)
}

// OwnedBy fails with CodeOwnershipDenied unless who owns the name.
func (r Registration) OwnedBy(who deed.Wallet) error {
	if r.Owner != who {
		return deed.Errorf(deed.CodeOwnershipDenied, "%s belongs to another wallet", r.Name)
	}
	return nil
}

// Equal reports whether r and o agree in all fields that callers see.
func (r Registration) Equal(o Registration) bool {
	return r.Owner == o.Owner && r.Status == o.Status && r.Expires.Equal(o.Expires) && r.Locked == o.Locked &&
		slices.Equal(r.Nameservers, o.Nameservers) && r.Glue.String() == o.Glue.String() && slices.Equal(r.DS, o.DS)
}

// An OwnerAction is something that the owner of a name did to it. Actions are
// recorded and never deleted.
type OwnerAction struct {
	Wallet deed.Wallet // the owner at the time
	Kind   ActionKind
	Detail string // the new owner, the new name servers
	After  int    // of a handover: how many actions precede it

	// HadDS is the DS of the name before an ActionNameservers.
	HadDS []dnssec.DS

	// HadServers are the name servers before an ActionNameservers; nil if any may have been.
	HadServers []string

	// HadOurServers means that the registry may have had one of the service's own name servers until
	// an ActionNameservers, and has others now.
	HadOurServers bool

	// OnlyDS means that an ActionNameservers leaves the name servers as they are: it fails
	// with ErrConcurrentAction when they were changed, or are about to be.
	OnlyDS bool
}

// ErrConcurrentAction means that the owner acted on the name between two steps of
// a handover, or that its DS or name servers were changed while the other was.
var ErrConcurrentAction = errors.New("the owner changed the name concurrently")

// An ActionKind is the kind of an OwnerAction.
type ActionKind string

// The kinds of owner action.
const (
	ActionAuthCode    ActionKind = "authcode"
	ActionLock        ActionKind = "lock"
	ActionUnlock      ActionKind = "unlock"
	ActionNameservers ActionKind = "nameservers"
	ActionHandover    ActionKind = "handover"
)

// A Status is the status of a registration.
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

// statuses lists every Status.
var statuses = []Status{
	StatusPending, StatusActive, StatusExpired, StatusRedemption, StatusPendingDelete, StatusTransferring, StatusTransferred, StatusSuspended,
}

// Known reports whether s is a defined status.
func (s Status) Known() bool { return slices.Contains(statuses, s) }

// StatusList returns the statuses as text, for messages.
func StatusList() string {
	words := make([]string, len(statuses))
	for i, s := range statuses {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
