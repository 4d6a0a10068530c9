package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/email"
	"deed.example/deed/internal/event"
)

// queueEmail makes the e-mail of the owner of an event due, if there is an address. It
// is called with the counter of the owner's events locked.
func queueEmail(ctx context.Context, tx *Tx, owner deed.Wallet, events []event.Event) error {
	for _, e := range events {
		if email.Sends(string(e.Type)) {
			_, err := tx.ExecContext(ctx, `UPDATE emails SET next_at = rest_until WHERE owner = $1 AND state = 'confirmed' AND next_at IS NULL`, owner)
			return err
		}
	}
	return nil
}

// Due implements email.Queue.
func (s Emails) Due(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "owner", from: "emails", at: "next_at"}, s.Now(), limit)
}

// maxPassed is how many events are read for one message.
const maxPassed = 500

// Take implements email.Queue. What happened is read before the lease is taken, and so
// is in this message or in the next one.
func (s Emails) Take(ctx context.Context, owner deed.Wallet, until time.Time, limit int) (o email.Outgoing, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		o, err = s.scan(tx.QueryRowContext(ctx, `
			UPDATE emails SET next_at = $1 WHERE owner = $2 AND next_at <= $3
			RETURNING owner, sealed, address_hash, code_hash, token_hash, state, n, failures, failing_since, failure, created_at, confirmed_at`,
			until.Unix(), owner, s.Now().Unix()))
		return err
	})
	if err != nil || o.State != email.Confirmed {
		return o, err
	}
	events, err := Events{DB: s.DB}.Events(ctx, owner, o.N, maxPassed)
	for _, e := range events {
		if len(o.Notices) == limit {
			break
		}
		o.N = e.N
		if d := e.Data; email.Sends(string(e.Type)) {
			o.Notices = append(o.Notices, email.Notice{
				Type: string(e.Type), Domain: d.Domain, Expires: d.ExpiresAt, DaysLeft: d.DaysLeft, Reason: d.Reason, Price: d.Price, NewOwner: d.NewOwner,
			})
		}
	}
	return o, err
}

// Done implements email.Queue. After a success there is more to send if more has
// happened since.
func (s Emails) Done(ctx context.Context, o email.Outgoing, a email.Attempt) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		last, err := lockEvents(ctx, tx, o.Owner)
		if err != nil {
			return err
		}
		next, n := any(a.Next.Unix()), a.N
		switch {
		case a.State == email.Off, a.Failure == "" && (a.State == email.Pending || last <= a.N):
			next = nil
		case a.Failure != "":
			n = 0 // it is tried again
		}
		var since int64
		if !a.FailingSince.IsZero() {
			since = a.FailingSince.Unix()
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE emails SET state = $1, n = CASE WHEN n < $2 THEN $2 ELSE n END, failures = $3, failing_since = $4, failure = $5,
			       rest_until = $6, next_at = $7
			 WHERE owner = $8 AND token_hash = $9 AND state = $10`,
			a.State, n, a.Failures, since, a.Failure, a.Next.Unix(), next, o.Owner, o.TokenHash, o.State)
		return err
	})
}
