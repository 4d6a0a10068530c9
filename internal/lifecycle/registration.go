package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Registration is a name that we hold for a wallet.
type Registration struct {
	Name      deed.Name
	Owner     deed.Wallet
	Status    Status
	Reference string // of the order at the registrar that brought it
	PaymentID string // that bought it
	Created   time.Time
	Expires   time.Time
	Updated   time.Time

	Locked         bool // against a transfer to another registrar
	Nameservers    []string
	DS             []dnssec.DS
	PremiumRenewal deed.USDC // what a year of a premium name costs us; 0 for the price of its TLD
}

// OwnedBy fails with CodeOwnershipDenied unless who owns the name.
func (r Registration) OwnedBy(who deed.Wallet) error {
	if r.Owner != who {
		return deed.Errorf(deed.CodeOwnershipDenied, "%s belongs to another wallet", r.Name)
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
type OwnerAction struct {
	Wallet deed.Wallet // who did it
	Kind   ActionKind
	Detail string // the new owner, the new name servers
	After  int    // of a hand-over: how many acts came before it
}

// ErrMeanwhile says that the owner of a name did something with it between two
// steps of a hand-over.
var ErrConcurrentAction = errors.New("the owner did something else with the name meanwhile")

// An ActKind says what was done.
type ActionKind string

// The kinds of act.
const (
	ActionAuthCode    ActionKind = "authcode"
	ActionLock        ActionKind = "lock"
	ActionUnlock      ActionKind = "unlock"
	ActionNameservers ActionKind = "nameservers"
	ActionHandover    ActionKind = "handover"
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
