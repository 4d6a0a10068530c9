package email

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
)

// How messages are paced.
const (
	pause       = time.Hour        // between two messages to one address
	retryFirst  = 5 * time.Minute  // after the first failure; doubled after each
	retryMost   = 6 * time.Hour    // at most
	giveUpAfter = 72 * time.Hour   // of failures
	lease       = 10 * time.Minute // of the node that sends

	maxNotices = 50 // in one message
)

// An Outgoing is what is to be sent to one address.
type Outgoing struct {
	Request            // Code is empty once it is confirmed
	N            int64 // of the last event that is in Notices, or was passed over
	Notices      []Notice
	Failures     int
	FailingSince time.Time
}

// An Attempt is the result of sending.
type Attempt struct {
	N            int64 // events up to this one are done
	Next         time.Time
	State        State
	Failures     int
	FailingSince time.Time
	Failure      string
}

// Queue has what is to be sent.
type Queue interface {
	// Due returns wallets with something to send now.
	Due(ctx context.Context, limit int) ([]string, error)

	// Take returns what is to be sent for a wallet, and leases it until then. It
	// fails with CodeNotFound when there is nothing, or another node has the lease.
	Take(ctx context.Context, owner deed.Wallet, until time.Time, limit int) (Outgoing, error)

	// Done stores the result, unless the subscription was replaced or has ended.
	Done(ctx context.Context, o Outgoing, a Attempt) error
}

// ErrRefused is wrapped by errors of a Sender that are permanent: the mail server
// refused the address or the message.
var ErrRefused = errors.New("the mail server refused it")

// ErrServer is wrapped by errors of a Sender that concern every message: the mail server
// cannot be reached, or does not let us send.
var ErrServer = errors.New("the mail server cannot be used")

// Sender sends messages. Any error but ErrRefused is temporary. Errors do not have the
// address.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Dispatcher sends what is due. Fill every field.
type Dispatcher struct {
	Queue  Queue
	Sender Sender
	Link   func(token string) string // URL that ends a subscription
	Now    func() time.Time
}

// Due returns wallets that Advance should be called for now.
func (d *Dispatcher) Due(ctx context.Context, limit int) ([]string, error) {
	return d.Queue.Due(ctx, limit)
}

// Advance sends what is due for a wallet. A message may be sent twice when the process
// dies after the mail server has accepted it. It fails with ErrServer, too, so that the
// operator is told.
func (d *Dispatcher) Advance(ctx context.Context, owner string) error {
	o, err := d.Queue.Take(ctx, deed.Wallet(owner), d.Now().Add(lease), maxNotices)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take the e-mail for %s: %w", owner, err)
	}
	a := Attempt{N: o.N, Next: d.Now(), State: o.State}
	var unusable error
	if m, ok := d.message(o); ok {
		err := d.Sender.Send(ctx, m)
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err() // we stopped, the mail server did not fail: it is due again when the lease ends
		}
		if errors.Is(err, ErrServer) {
			unusable = err
		}
		a = o.after(err, d.Now())
	}
	if err := d.Queue.Done(context.WithoutCancel(ctx), o, a); err != nil {
		return fmt.Errorf("store the result of the e-mail for %s: %w", owner, err)
	}
	return unusable
}

// message returns the message, and false if none of the events is sent by e-mail.
func (d *Dispatcher) message(o Outgoing) (Message, bool) {
	link := d.Link(o.Token)
	if o.State == Pending {
		return codeMessage(o.Address, o.Owner, o.Code, link), true
	}
	return noticeMessage(o.Address, o.Notices, link), len(o.Notices) > 0
}

// after returns the result of an attempt.
func (o Outgoing) after(err error, now time.Time) Attempt {
	if err == nil {
		return Attempt{N: o.N, Next: now.Add(pause), State: o.State}
	}
	a := Attempt{State: o.State, Failures: o.Failures + 1, FailingSince: o.FailingSince, Failure: "the mail server cannot be reached"}
	if a.FailingSince.IsZero() {
		a.FailingSince = now
	}
	delay := retryMost
	if o.Failures < 8 {
		delay = min(retryMost, retryFirst<<o.Failures)
	}
	a.Next = now.Add(delay)
	switch {
	case errors.Is(err, ErrRefused):
		a.State, a.Failure = Off, "the mail server refused the address"
	case now.Sub(a.FailingSince) >= giveUpAfter:
		a.State = Off
	}
	return a
}
