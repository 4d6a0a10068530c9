// Package event tells owners what happened to what they own and paid for.
//
// An event is written in the transaction of what happened, so that neither exists
// without the other. The events of a wallet are numbered without gaps in the order in
// which they were committed, so a reader that remembers the number of the last event
// misses none.
package event

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// An Event is something that happened to what a wallet owns or paid for.
type Event struct {
	ID    string
	Owner deed.Wallet
	N     int64 // 1 for the first event of the owner
	Type  Type
	At    time.Time
	Data  Data
}

// Data is what an event says. Its JSON names are stored and sent, so they must not
// change.
type Data struct {
	Domain    deed.Name          `json:"domain,omitzero"`
	Kind      order.PurchaseKind `json:"kind,omitzero"` // of a job or payment
	JobID     string             `json:"jobId,omitzero"`
	PaymentID string             `json:"paymentId,omitzero"`
	RefundID  string             `json:"refundId,omitzero"`
	Amount    string             `json:"amount_usd,omitzero"`
	TxHash    string             `json:"txHash,omitzero"`
	ExpiresAt time.Time          `json:"expiresAt,omitzero"`
	DaysLeft  int                `json:"daysLeft,omitzero"`
	Serial    uint32             `json:"serial,omitzero"`
	NewOwner  deed.Wallet        `json:"newOwner,omitzero"`
	WebhookID string             `json:"webhookId,omitzero"`
	MandateID string             `json:"mandateId,omitzero"`
	Price     string             `json:"price_usd,omitzero"` // of a renewal by mandate; Amount is what was paid
	Reason    string             `json:"reason,omitzero"`
}

// Aggregate returns what the event is about. Events of one aggregate are delivered in
// order: those of the payments, jobs and zone of a name belong to the name.
func (e Event) Aggregate() string {
	if e.Data.Domain == "" {
		return e.Data.WebhookID
	}
	return string(e.Data.Domain)
}

// A Type says what happened.
type Type string

// The types of event.
const (
	PaymentSettled Type = "payment.settled"
	RefundDue      Type = "refund.due"
	RefundSent     Type = "refund.sent"

	JobCompleted Type = "job.completed"
	JobFailed    Type = "job.failed"

	DNSChanged   Type = "dns.changed"
	DNSPublished Type = "dns.published"

	DomainRegistered    Type = "domain.registered"
	DomainTransferredIn Type = "domain.transferred_in"
	DomainRenewed       Type = "domain.renewed"
	DomainExpiring      Type = "domain.expiring"
	DomainExpired       Type = "domain.expired"
	DomainRedemption    Type = "domain.redemption"
	DomainPendingDelete Type = "domain.pending_delete"
	DomainDeleted       Type = "domain.deleted"
	DomainLeaving       Type = "domain.transfer_out_started"
	DomainStayed        Type = "domain.transfer_out_stopped"
	DomainTransferred   Type = "domain.transferred"
	DomainSuspended     Type = "domain.suspended"
	DomainResumed       Type = "domain.resumed"
	DomainHandedOver    Type = "domain.handed_over"
	DomainDSWithdrawn   Type = "domain.ds_withdrawn"
	DomainDelegated     Type = "domain.delegated"
	DomainMoveRefused   Type = "domain.delegation_refused"
	DomainKeyIntroduced Type = "domain.key_introduced"
	DomainKeyReplaced   Type = "domain.key_replaced"
	DomainCorrected     Type = "domain.corrected_by_registry"
	DomainMissing       Type = "domain.missing_at_registry"
	DomainCancelled     Type = "domain.cancelled"
	DomainVerification  Type = "domain.verification_required"
	DomainVerified      Type = "domain.verified"

	DomainRegistrantSent    Type = "domain.registrant_sent"
	DomainRegistrantRefused Type = "domain.registrant_refused"

	WebhookDisabled Type = "webhook.disabled"
)

// domainEvents is the table of the lifecycle events of a registration.
var domainEvents = map[lifecycle.EventType]struct {
	Type
	expiry   bool // the event says when the name expires
	daysLeft int  // until then, in a notice; negative after it
}{
	lifecycle.EventExpiresIn30:   {DomainExpiring, true, 30},
	lifecycle.EventExpiresIn7:    {DomainExpiring, true, 7},
	lifecycle.EventExpiresIn1:    {DomainExpiring, true, 1},
	lifecycle.EventRegistered:    {DomainRegistered, true, 0},
	lifecycle.EventTransferredIn: {DomainTransferredIn, true, 0},
	lifecycle.EventRenewed:       {DomainRenewed, true, 0},
	lifecycle.EventExpired:       {DomainExpired, true, 0},
	lifecycle.EventExpired3:      {DomainExpired, true, -3},
	lifecycle.EventRedemption:    {DomainRedemption, true, 0},
	lifecycle.EventPendingDelete: {DomainPendingDelete, true, 0},
	lifecycle.EventDeleted:       {DomainDeleted, true, 0},
	lifecycle.EventLeaving:       {Type: DomainLeaving},
	lifecycle.EventStayed:        {Type: DomainStayed},
	lifecycle.EventLeft:          {DomainTransferred, true, 0},
	lifecycle.EventSuspended:     {Type: DomainSuspended},
	lifecycle.EventResumed:       {Type: DomainResumed},
	lifecycle.EventHandedOver:    {Type: DomainHandedOver},
	lifecycle.EventDSWithdrawn:   {Type: DomainDSWithdrawn},
	lifecycle.EventDelegated:     {Type: DomainDelegated},
	lifecycle.EventMoveRefused:   {Type: DomainMoveRefused},
	lifecycle.EventKeyIntroduced: {Type: DomainKeyIntroduced},
	lifecycle.EventKeyReplaced:   {Type: DomainKeyReplaced},
	lifecycle.EventCorrected:     {Type: DomainCorrected},
	lifecycle.EventMissing:       {DomainMissing, true, 0},
	lifecycle.EventCancelled:     {DomainCancelled, true, 0},
	lifecycle.EventVerification:  {Type: DomainVerification},
	lifecycle.EventVerified:      {Type: DomainVerified},

	lifecycle.EventRegistrantSent:    {Type: DomainRegistrantSent},
	lifecycle.EventRegistrantRefused: {Type: DomainRegistrantRefused},
}

// OfRegistration returns the event for the owner of a name.
func OfRegistration(e lifecycle.Event, owner deed.Wallet) Event {
	row := domainEvents[e.Type]
	out := Event{Owner: owner, Type: row.Type, At: e.At, Data: Data{Domain: e.Name, DaysLeft: row.daysLeft}}
	if row.expiry {
		out.Data.ExpiresAt = e.About
	}
	return out
}

// paymentTypes maps the states of a payment that its payer is notified of.
var paymentTypes = map[order.PaymentState]Type{
	order.PaymentSettled:   PaymentSettled,
	order.PaymentRefundDue: RefundDue,
	order.PaymentRefunded:  RefundSent,
}

// OfPayment returns the event for the payer of a payment that has reached its state,
// and false if there is none.
func OfPayment(p order.Payment, at time.Time) (Event, bool) {
	t, ok := paymentTypes[p.State]
	e := Event{Owner: p.Auth.Payer, Type: t, At: at, Data: Data{
		Domain: p.Purchase.Name, Kind: p.Purchase.Kind, PaymentID: p.PublicID, Amount: p.Auth.Amount.String(), TxHash: p.TxHash,
	}}
	if p.State.Refunds() {
		e.Data.RefundID, e.Data.TxHash, e.Data.Amount, e.Data.Reason = p.RefundID, p.RefundTx, p.Refund().Amount.String(), p.Part.Reason
	}
	return e, ok
}

// OfJob returns the event for the owner of a job that has ended, and false if it has
// not, or was cancelled before anything was paid.
func OfJob(j order.Job, at time.Time) (Event, bool) {
	e := Event{Owner: j.Owner, Type: JobCompleted, At: at, Data: Data{
		Domain: j.Purchase.Name, Kind: j.Purchase.Kind, JobID: j.PublicID, ExpiresAt: j.Until, Serial: j.Revision,
	}}
	if j.State == order.JobFailed {
		e.Type, e.Data.Reason = JobFailed, j.Failure
	}
	return e, j.State == order.JobCompleted || j.State == order.JobFailed
}
