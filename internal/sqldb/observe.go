package sqldb

import (
	"time"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// An Observer sees what was committed, for logs and metrics. It must return quickly
// and be safe for concurrent use. What was committed although the answer of the
// database was lost is not observed.
type Observer interface {
	// Event is called for each event of an owner.
	Event(e event.Event)

	// PaymentMoved is called for each new payment and each change of its state.
	PaymentMoved(m PaymentMove)
}

// A PaymentMove is a change of the state of a payment.
type PaymentMove struct {
	Payment order.Payment      // in its new state
	From    order.PaymentState // "" for a new one
	Since   time.Time          // when it got the state that it left
	At      time.Time
}

// committed is what was committed by one transaction.
type committed struct {
	events []event.Event
	moves  []PaymentMove
	zones  []changedZone

	notices []string
}

// tell caches the zones, notifies other nodes and tells the observer, unless the
// transaction failed, and returns its error.
func (c *committed) tell(db *DB, err error) error {
	if err != nil {
		return err
	}
	for _, z := range c.zones {
		db.zones.add(z.name, z.content)
	}
	db.sendNotices(c.notices)
	if db.Observer == nil {
		return nil
	}
	for _, m := range c.moves {
		db.Observer.PaymentMoved(m)
	}
	for _, e := range c.events {
		db.Observer.Event(e)
	}
	return nil
}
