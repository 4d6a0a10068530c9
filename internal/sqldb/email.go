package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/email"
)

// Emails implements email.Store and email.Queue. Fill every field.
type Emails struct {
	DB  *DB
	Now func() time.Time
}

var (
	errNoEmail = deed.Errorf(deed.CodeNotFound, "this wallet has no e-mail address here")
	errCode    = deed.Invalid("code", "is not the code that was sent last, or is older than a day: give the address again to get a new one")
)

func emailContext(owner deed.Wallet) string { return "email " + string(owner) }

// seal encrypts what is needed to write to the owner.
func (s Emails) seal(r email.Request) (string, error) {
	text := strings.Join([]string{string(r.Address), r.Code, r.Token}, "\n")
	return s.DB.seal(emailContext(r.Owner), text)
}

func (s Emails) open(r *email.Request, sealed string) (err error) {
	if sealed, err = s.DB.unseal(emailContext(r.Owner), sealed); err != nil {
		return err
	}
	parts := strings.Split(sealed, "\n")
	if len(parts) != 3 {
		return errors.New("the e-mail address cannot be read")
	}
	r.Address, r.Code, r.Token = email.Address(parts[0]), parts[1], parts[2]
	return nil
}

// Request implements email.Store.
func (s Emails) Request(ctx context.Context, r email.Request) error {
	sealed, err := s.seal(r)
	if err != nil {
		return err
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		n, err := lockEvents(ctx, tx, r.Owner)
		if err != nil {
			return err
		}
		if err := s.admit(ctx, tx, r); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO emails (owner, sealed, address_hash, code_hash, token_hash, state, n, created_at, next_at)
			VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $7)
			ON CONFLICT (owner) DO UPDATE SET sealed = $2, address_hash = $3, code_hash = $4, token_hash = $5, state = 'pending', n = $6,
			   tries = 0, failures = 0, failing_since = 0, failure = '', created_at = $7, confirmed_at = 0, rest_until = 0, next_at = $7`,
			r.Owner, sealed, r.AddressHash, r.CodeHash, r.TokenHash, n, r.Created.Unix())
		return err
	})
}

// lockEvents locks the counter of the owner's events, and returns the last number.
// Whatever stores events takes this lock first.
func lockEvents(ctx context.Context, tx *Tx, owner deed.Wallet) (n int64, err error) {
	err = tx.QueryRowContext(ctx, `
		INSERT INTO event_counters (owner, n) VALUES ($1, 0)
		ON CONFLICT (owner) DO UPDATE SET n = event_counters.n
		RETURNING n`, owner).Scan(&n)
	return n, err
}

// admit fails unless a code may be sent to the address for the wallet. Concurrent
// requests of other wallets may exceed the limits of the address and of the day by one
// each; the limit of the wallet is exact.
func (s Emails) admit(ctx context.Context, tx *Tx, r email.Request) error {
	day := s.Now().Add(-24 * time.Hour).Unix()
	if _, err := tx.ExecContext(ctx, `DELETE FROM email_requests WHERE at <= $1`, day); err != nil {
		return err
	}
	var names, blocked, mine, address, all int
	err := tx.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM registrations WHERE owner = $1), (SELECT count(*) FROM email_blocked WHERE address_hash = $2),
		       coalesce(sum(CASE WHEN owner = $1 THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN address_hash = $2 THEN 1 ELSE 0 END), 0), count(*)
		  FROM email_requests`, r.Owner, r.AddressHash).Scan(&names, &blocked, &mine, &address, &all)
	switch {
	case err != nil:
		return err
	case names == 0:
		return deed.Invalid("address", "notices are sent to owners of names: register a name first")
	case blocked > 0:
		return deed.Invalid("address", "its reader does not want messages from here: give another one")
	case mine >= email.MaxPerOwner || address >= email.MaxPerAddress || all >= email.MaxPerDay:
		return errTooManyCodes
	}
	name, err := nameWithCodes(ctx, tx, r.Owner)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO email_requests (owner, address_hash, at, domain) VALUES ($1, $2, $3, $4)`, r.Owner, r.AddressHash, s.Now().Unix(), name)
	return err
}

var errTooManyCodes = deed.RateLimited(24*time.Hour, email.MaxPerOwner, "too many codes were sent for this wallet, for its names or to this address; enter the last one, or try again tomorrow")

// nameWithCodes returns a name of the wallet for which a code may be sent. Without this
// limit, one name that is handed over from wallet to wallet could use up the codes of
// all wallets.
func nameWithCodes(ctx context.Context, tx *Tx, owner deed.Wallet) (name deed.Name, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT domain FROM registrations r
		 WHERE owner = $1 AND (SELECT count(*) FROM email_requests e WHERE e.domain = r.domain) < $2 LIMIT 1`,
		owner, email.MaxPerName).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errTooManyCodes
	}
	return name, err
}

const selectEmail = `SELECT owner, sealed, address_hash, code_hash, token_hash, state, n, failures, failing_since, failure, created_at, confirmed_at FROM emails `

func (s Emails) scan(row scanner) (o email.Outgoing, err error) {
	var sealed string
	var since, created, confirmed int64
	err = row.Scan(&o.Owner, &sealed, &o.AddressHash, &o.CodeHash, &o.TokenHash, &o.State, &o.N, &o.Failures, &since, &o.Failure, &created, &confirmed)
	if errors.Is(err, sql.ErrNoRows) {
		return o, errNoEmail
	}
	if err != nil {
		return o, err
	}
	o.FailingSince, o.Created, o.Subscription.Confirmed = timeOrZero(since), timeOrZero(created), timeOrZero(confirmed)
	return o, s.open(&o.Request, sealed)
}

// Subscription implements email.Store.
func (s Emails) Subscription(ctx context.Context, owner deed.Wallet) (email.Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	o, err := s.scan(s.DB.read.QueryRowContext(ctx, selectEmail+`WHERE owner = $1`, owner))
	return o.Subscription, err
}

// Confirm implements email.Store. A wrong code is counted, so the transaction is
// committed then, too.
func (s Emails) Confirm(ctx context.Context, owner deed.Wallet, codeHash string) error {
	var confirmed, pending bool
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) (err error) {
		n, err := lockEvents(ctx, tx, owner)
		if err != nil {
			return err
		}
		now := s.Now()
		confirmed, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE emails SET state = 'confirmed', confirmed_at = $1, n = $2, next_at = NULL
			 WHERE owner = $3 AND state = 'pending' AND code_hash = $4 AND tries < $5 AND created_at > $6`,
			now.Unix(), n, owner, codeHash, email.MaxTries, now.Add(-email.CodeTTL).Unix()))
		if err != nil || confirmed {
			return err
		}
		pending, err = rowsAffected(tx.ExecContext(ctx, `UPDATE emails SET tries = tries + 1 WHERE owner = $1 AND state = 'pending'`, owner))
		return err
	})
	switch {
	case err != nil:
		return err
	case confirmed:
		return nil
	case pending:
		return errCode
	}
	is, err := s.Subscription(ctx, owner)
	if err == nil && is.State == email.Off {
		err = errCode
	}
	return err // a confirmed one stays so
}

// Delete implements email.Store.
func (s Emails) Delete(ctx context.Context, owner deed.Wallet) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		found, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM emails WHERE owner = $1`, owner))
		if err == nil && !found {
			err = errNoEmail
		}
		return err
	})
}

// Unsubscribe implements email.Store.
func (s Emails) Unsubscribe(ctx context.Context, tokenHash string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO email_blocked (address_hash, at)
			SELECT address_hash, $1 FROM emails WHERE token_hash = $2 AND confirmed_at = 0
			ON CONFLICT (address_hash) DO NOTHING`, s.Now().Unix(), tokenHash)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM emails WHERE token_hash = $1`, tokenHash)
		return err
	})
}
