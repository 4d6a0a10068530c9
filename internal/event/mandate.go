package event

import (
	"time"

	"deed.example/deed/internal/order"
)

// The types of event about mandates. Due: its renewal is being paid. At risk: it could
// not be used now, and the owner should act. Failed: it will never be used.
const (
	MandateDue     Type = "mandate.due"
	MandateAtRisk  Type = "mandate.at_risk"
	MandateUsed    Type = "mandate.used"
	MandateFailed  Type = "mandate.failed"
	MandateRevoked Type = "mandate.revoked"
)

// mandateTypes maps the states of a mandate that its owner is notified of.
var mandateTypes = map[order.MandateState]Type{
	order.MandateActive:  MandateAtRisk,
	order.MandatePaying:  MandateDue,
	order.MandateUsed:    MandateUsed,
	order.MandateFailed:  MandateFailed,
	order.MandateRevoked: MandateRevoked,
}

// OfMandate returns the event for the owner of a mandate that has reached its state,
// and false if there is none.
func OfMandate(m order.Mandate, at time.Time) (Event, bool) {
	t, ok := mandateTypes[m.State]
	return Event{Owner: m.Owner, Type: t, At: at, Data: Data{
		Domain: m.Name, MandateID: m.ID, Amount: m.Auth.Amount.String(), ExpiresAt: m.Expires, Reason: m.Reason,
	}}, ok
}
