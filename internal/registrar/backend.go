package registrar

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// A Backend is a configured account at a registry or a wholesaler. Capabilities
// beyond Registrar and Manager are optional interfaces of the two (see capability.go).
//
// The package of a backend opens it, with Registrar, Manager and Ping, and where they
// apply Close, NotReal and Deadline. The other fields are from keys that every block of
// the configuration may have, and internal/app fills them.
type Backend struct {
	Name      string // from the configuration; stored with each name that it holds
	TLDs      []deed.TLD
	Rest      bool // sells every TLD that no other backend lists
	Registrar Registrar
	Manager   Manager
	Ping      func(ctx context.Context) error
	Close     func() error // nil if there is nothing to close
	Reserve   deed.USDC    // that stays in the account; below it the operator is told

	// LookupsPerSecond bounds how many names are looked up to compare them; 0 for no
	// limit. See Pace.
	LookupsPerSecond int

	// NotReal says that its names are not in the public DNS: it is the test system of a
	// registry or wholesaler.
	NotReal bool

	Cancel lifecycle.CancelTerms // of registrations in their add grace period

	// Registrant says whether owners may be the registrants of their names.
	Registrant lifecycle.RegistrantPolicy

	// DeleteOrphans allows the service to delete a name that belongs to nobody, because
	// it was registered after its refund, while the registry returns its price.
	DeleteOrphans bool

	// Deadline is how long an order may take before it is given up; zero for
	// order.JobDeadline. Registries have maintenance windows of hours.
	Deadline time.Duration
}
