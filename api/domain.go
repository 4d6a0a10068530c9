package api

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Domain is a registered name.
type Domain struct {
	Domain        string        `json:"domain"`
	TLD           string        `json:"tld"`
	Status        string        `json:"status"`
	RegisteredAt  time.Time     `json:"registeredAt"`
	ExpiresAt     time.Time     `json:"expiresAt"`
	AutoRenew     bool          `json:"autoRenew"`
	RenewalPrice  string        `json:"renewal_price_usd,omitzero"` // of a year; "" when the TLD is no longer sold
	Locked        bool          `json:"locked"`
	Privacy       bool          `json:"privacy"`
	Nameservers   []string      `json:"nameservers"`
	Glue          []Glue        `json:"glue,omitzero"` // of name servers below the name itself
	WalletAddress string        `json:"walletAddress"`
	EPPStatus     []string      `json:"eppStatus"`
	DNSSEC        DNSSEC        `json:"dnssec"`
	Delegation    *Delegation   `json:"delegation,omitzero"` // nil when no change of name servers is pending
	Grace         *Grace        `json:"grace,omitzero"`
	Verification  *Verification `json:"verification,omitzero"`
	Events        []DomainEvent `json:"events"`
	Warnings      []string      `json:"warnings"`
	UpdatedAt     time.Time     `json:"updatedAt"`
}

// DNSSEC says whether the zone of a name is signed, with its DS records at the
// parent.
type DNSSEC struct {
	Enabled bool     `json:"enabled"`
	DS      []DS     `json:"ds"`
	KeyRoll *KeyRoll `json:"keyRoll,omitzero"`
}

// KeyRoll is the replacement of the key of a zone.
type KeyRoll struct {
	Step        string     `json:"step"`                 // "requested", "introducing" or "replacing"
	EffectiveAt *time.Time `json:"effectiveAt,omitzero"` // when the step ends; nil while it waits for name servers or the registry
}

// DS is a DS record (RFC 4034, 5).
type DS struct {
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest"`
}

// Grace is the phase of an expired name and the price to keep it.
type Grace struct {
	Phase  string    `json:"phase"`
	EndsAt time.Time `json:"endsAt"`
	Price  string    `json:"price_usd,omitzero"` // of a year; "" if it cannot be renewed any more
}

// Verification says what a registry requires to be verified about the registrant of a
// name.
type Verification struct {
	Claims     []string   `json:"claims"`
	DeadlineAt *time.Time `json:"deadlineAt,omitzero"` // when the name stops working otherwise; nil if the registry has not said
}

// DomainEvent is an event in the lifecycle of a name.
type DomainEvent struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
}

// AccountDomains is a page of the names of a wallet.
type AccountDomains struct {
	Domains  []AccountDomain `json:"domains"`
	Warnings []string        `json:"warnings"` // about names that end soon, on whatever page
	PageFields
}

// AccountDomain is a summary of a wallet's name.
type AccountDomain struct {
	Domain       string        `json:"domain"`
	Status       string        `json:"status"`
	RegisteredAt time.Time     `json:"registeredAt"`
	ExpiresAt    time.Time     `json:"expiresAt"`
	Locked       bool          `json:"locked"`
	RenewalPrice string        `json:"renewal_price_usd"`
	Events       []DomainEvent `json:"events"`
}

// AuthCode is the code that another registrar needs for a transfer.
type AuthCode struct {
	Domain   string `json:"domain"`
	AuthCode string `json:"authCode"`
	Locked   bool   `json:"locked"`
}

// LockRequest is the body of PUT /domains/{domain}/lock.
type LockRequest struct {
	Locked *bool `json:"locked"` // required: an omitted field must not unlock a name
}

// NameserversRequest is the body of PUT /domains/{domain}/nameservers. An empty
// list restores the default name servers; nil is invalid.
type NameserversRequest struct {
	Nameservers []Nameserver `json:"nameservers"`
	Force       bool         `json:"force,omitzero"` // at once, even if resolvers treat the name as bogus for a while
}

// Glue has the addresses of a name server below the name itself, which the registry
// publishes.
type Glue struct {
	Host      string   `json:"host"`
	Addresses []string `json:"addresses"`
}

// Nameserver is a name server in a request. In JSON it is the host name alone, or an
// object when it has addresses.
type Nameserver Glue

// MarshalJSONTo implements json.MarshalerTo.
func (n Nameserver) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(n.Addresses) == 0 {
		return json.MarshalEncode(e, n.Host)
	}
	return json.MarshalEncode(e, Glue(n))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *Nameserver) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '"' {
		*n = Nameserver{}
		return json.UnmarshalDecode(d, &n.Host)
	}
	return json.UnmarshalDecode(d, (*Glue)(n))
}

// Nameservers returns name servers without addresses, for a request.
func Nameservers(hosts ...string) []Nameserver {
	all := make([]Nameserver, len(hosts))
	for i, h := range hosts {
		all[i].Host = h
	}
	return all
}

// Delegation is a change of name servers that waits for the caches of resolvers.
type Delegation struct {
	State       string    `json:"state"`       // "withdrawing" or "settling"
	Nameservers []string  `json:"nameservers"` // the new ones
	Glue        []Glue    `json:"glue,omitzero"`
	EffectiveAt time.Time `json:"effectiveAt"` // when the state ends

	// RefusedAt is when the registry last refused the change; nil if it did not.
	RefusedAt *time.Time `json:"refusedAt,omitzero"`
}

// DSRequest is the body of PUT /domains/{domain}/ds.
type DSRequest struct {
	DS    []NewDS `json:"ds"`
	Force bool    `json:"force,omitzero"` // even if resolvers may still ask the service's own servers
}

// NewDS is a DS record of a request. A key tag of 0 is valid, so a missing one is nil.
type NewDS struct {
	KeyTag     *uint16 `json:"keyTag"`
	Algorithm  uint8   `json:"algorithm"`
	DigestType uint8   `json:"digestType"`
	Digest     string  `json:"digest"`
}

// OwnerRequest is the body of PUT /domains/{domain}/owner.
type OwnerRequest struct {
	WalletAddress string `json:"walletAddress"`
}

// CancelRequest is the body of POST /domains/{domain}/cancel.
type CancelRequest struct {
	DryRun bool `json:"dryRun,omitzero"`
}

// Cancellation is the response to POST /domains/{domain}/cancel.
type Cancellation struct {
	Domain        string  `json:"domain"`
	Status        string  `json:"status"` // possible, cancelling, cancelled
	Price         string  `json:"price_usd"`
	Kept          string  `json:"kept_usd"` // by the registry
	RefundAmount  string  `json:"refund_usd"`
	WalletAddress string  `json:"walletAddress"` // that the refund goes to
	Refund        *Refund `json:"refund,omitzero"`
}
