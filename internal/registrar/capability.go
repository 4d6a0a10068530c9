package registrar

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// ErrFunds is in the chain of an error of Place when the account at the registry has
// too little money. The order was not executed, and can be when the operator has paid
// in: to the caller the service is unavailable.
var ErrFunds = errors.New("the account at the registry has too little money")

// ErrElsewhere is in the chain of an error of Holding, beside CodeNotFound, when the
// registry shows that the name was transferred to another registrar.
var ErrElsewhere = errors.New("another registrar has the name")

// A BulkChecker checks many names with few calls. A Registrar may implement it.
type BulkChecker interface {
	// AvailableAll returns the availability of each name that the registry answered
	// for. A name that is missing from the result is unknown, never available. It
	// fails, without a code, only when nothing is known about any name.
	AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]Availability, error)
}

// A PriceLister knows what an order costs at the registry today. A Registrar may
// implement it.
type PriceLister interface {
	// Price returns the price of the order, whose reference may be empty. It fails
	// with CodeNotFound when the registry has no price for it, and without a code
	// when the registry does not respond or responds in another currency.
	Price(ctx context.Context, o Order) (Price, error)
}

// A TLDLister knows which TLDs the backend sells. A Registrar may implement it.
type TLDLister interface {
	TLDs(ctx context.Context) ([]deed.TLD, error)
}

// A Price is what a registry charges for an order.
type Price struct {
	Total   deed.USDC // for all years of the order, with the fee of a restore
	Premium bool      // the name has a price of its own
}

// PerYear returns the price of one of the years of an order, rounded up.
func (p Price) PerYear(years int) deed.USDC {
	each := p.Total / deed.USDC(years)
	if each*deed.USDC(years) < p.Total {
		each++
	}
	return each
}

// A BalanceReader knows how much money is left in the account. A Registrar may
// implement it.
type BalanceReader interface {
	// Balance fails with CodeNotFound when the registry has not reported one yet.
	Balance(ctx context.Context) (Balance, error)
}

// A Balance is the money left in the account at the registry.
type Balance struct {
	Available deed.USDC // with the credit that the registry grants
	At        time.Time // when the registry reported it, by the service's clock
}

// A MessageQueue delivers the registry's messages. A Registrar may implement it.
type MessageQueue interface {
	// NextMessage reads the oldest message, passes it to store, and acknowledges it
	// when store has returned nil: from then on the registry no longer has it. It
	// reports whether there was a message. A message may be passed more than once,
	// and from several processes. A message of unknown content is passed as well.
	NextMessage(ctx context.Context, store func(context.Context, Message) error) (bool, error)
}

// A Message is a message of the registry.
type Message struct {
	ID     string
	At     time.Time
	Kind   MessageKind
	Name   deed.Name // "" when the message is about no name
	Host   string    // "" when the message is about no host
	Status string    // of a transfer, as the registry writes it: "clientApproved"
	Done   bool      // a pending action was executed, or a transfer approved
	Text   string    // for the operator, as the registry wrote it
	Raw    []byte    // the whole message
}

// A MessageKind is what a message is about.
type MessageKind string

// The kinds of message.
const (
	MessageTransfer MessageKind = "transfer" // the state of a transfer, in or out
	MessagePending  MessageKind = "pending"  // the result of an order that was pending
	MessageRenewal  MessageKind = "renewal"  // the registry renewed the name
	MessageName     MessageKind = "name"     // the name was changed or deleted
	MessageHost     MessageKind = "host"     // a host was changed, renamed or deleted
	MessageOther    MessageKind = "other"    // for the operator
)

// A HostManager manages hosts below names in the account, with their addresses
// (glue). A Manager may implement it.
type HostManager interface {
	// SetHost creates the host or replaces its addresses. It fails with
	// CodeNotFound when the host is below a name that is not in the account.
	SetHost(ctx context.Context, host string, addrs []netip.Addr) error

	// DeleteHost deletes the host. It fails with CodeValidation while a name uses
	// it, and with CodeNotFound when it does not exist.
	DeleteHost(ctx context.Context, host string) error
}

// A GlueManager delegates names to servers below themselves, whose addresses the
// registry publishes. A Manager may implement it; one that implements HostManager
// need not.
type GlueManager interface {
	// SetDelegation sets the name servers of the name, and the addresses of those
	// below it. A host below the name that is no longer its server is deleted, unless
	// another name uses it. It fails like a Manager, with CodeValidation also when a
	// server below the name has no addresses.
	SetDelegation(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error
}

// A Deleter deletes names from the account. A Manager may implement it.
type Deleter interface {
	// Delete deletes the name: in its add grace period permanently, and the registry
	// returns the price; later it begins redemption. It fails like a Manager.
	Delete(ctx context.Context, name deed.Name) error
}

// A RegistrantManager sets the registrants of names. A Manager may implement it; use
// RegistrantsOf to find out.
type RegistrantManager interface {
	// SetRegistrant makes the contact the registrant of the name, and returns the
	// registry's identifier of it. It may be called again after an unknown outcome. It
	// fails like a Manager, with CodeValidation when the registry does not accept the
	// contact: the message tells the owner why.
	SetRegistrant(ctx context.Context, name deed.Name, c lifecycle.Contact) (handle string, err error)

	// ResetRegistrant makes the registrant of record of the operator the registrant of
	// the name again.
	ResetRegistrant(ctx context.Context, name deed.Name) error

	// DeleteContact deletes a contact that SetRegistrant returned. It may fail with
	// CodeValidation while a name has it, and does nothing when it does not exist.
	DeleteContact(ctx context.Context, handle string) error
}

// RegistrantsOf returns what sets the registrants of the manager's names, if the
// registry has registrants.
func RegistrantsOf(m Manager) (RegistrantManager, bool) {
	if s, ok := m.(interface{ HasRegistrants() bool }); ok && !s.HasRegistrants() {
		return nil, false
	}
	r, ok := m.(RegistrantManager)
	return r, ok
}

// A TransferDecider answers the requests of other registrars for names in the
// account. A Manager may implement it.
type TransferDecider interface {
	// DecideTransfer approves or rejects the pending transfer of the name. A rejected
	// transfer invalidates the code. It fails with CodeNotFound when none is pending.
	DecideTransfer(ctx context.Context, name deed.Name, approve bool) error
}

// DecideTransfer implements TransferDecider with the backends that can decide transfers.
func (r *Router) DecideTransfer(ctx context.Context, name deed.Name, approve bool) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	decider, ok := b.Manager.(TransferDecider)
	if !ok {
		return deed.Errorf(deed.CodeNotFound, "the registrar of %s decides no transfers", name)
	}
	return r.observe(ctx, b, "decide_transfer", func(ctx context.Context) error { return decider.DecideTransfer(ctx, name, approve) })
}

// A Monitored backend knows what its operator should be told before it breaks. A
// Registrar may implement it.
type Monitored interface {
	// Warnings returns one sentence for each, and none when all is well: a
	// certificate that expires soon, an empty account, invalid replies.
	Warnings() []string
}
