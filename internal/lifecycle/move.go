package lifecycle

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Move is a change of the name servers of a name, in steps that wait until the
// caches of resolvers cannot make the name bogus (RFC 6781, 4.3.5):
//
//	withdrawing ──► the DS has been removed; until EffectiveAt resolvers may have it
//	     │          in their caches and need the old, signed servers
//	     ▼
//	the name servers change ──► (to servers of others: done)
//	     │
//	     ▼
//	settling ──► the service's servers answer again; until EffectiveAt resolvers may
//	             query the old ones, so the DS is not published yet
type Move struct {
	Name        deed.Name
	Reference   string      // of the registration
	Wallet      deed.Wallet // the owner who asked for it
	Step        MoveStep
	Hosts       []string    // the new name servers
	Glue        Glue        // of those below the name
	DS          []dnssec.DS // that was removed for it, and is set again if it is canceled
	EffectiveAt time.Time
	Created     time.Time
	Refused     time.Time // when the registry last refused the change; zero while it is being made
}

// AtOnce reports whether the move does not wait, because no cache has a DS of the name.
func (m Move) AtOnce() bool { return m.EffectiveAt.Equal(m.Created) }

// OfFormerOwner reports whether a former owner of the name asked for the move, whose servers have not
// changed yet: it is canceled.
func (m Move) OfFormerOwner(r Registration) bool {
	return m.Step == MoveWithdrawing && m.Reference == r.Reference && m.Wallet != r.Owner
}

// A MoveStep is the current step of a Move.
type MoveStep string

// The steps of a Move.
const (
	MoveWithdrawing MoveStep = "withdrawing"
	MoveSettling    MoveStep = "settling"
)
