package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/signin"
)

const (
	// sweepInterval is the minimum interval between deletions of expired rows.
	sweepInterval = 10 * time.Second

	// nonceRetention is how long used nonces are kept after their expiry: a sign-in that was
	// checked before it may be stored later, and a clock may be set back.
	nonceRetention = 10 * time.Minute

	// expiredRetention is how long expired refresh tokens are kept, to be reported as expired.
	expiredRetention = 30 * 24 * time.Hour

	// usedRetention is how long used and ended refresh tokens are kept, to end the family
	// of one that is used again: at least as long as it would have been valid.
	usedRetention = signin.RefreshLifetime

	// sweepLimit is how many refresh tokens of either kind one sweep deletes at most.
	sweepLimit = 5000
)

// Sessions implements signin.Store. Make one with NewSessions.
type Sessions struct {
	db          *DB
	now         func() time.Time
	generations *generations
	active      activity
	swept       atomic.Int64 // when, in Unix seconds
}

// NewSessions returns the sessions in db.
func NewSessions(db *DB, now func() time.Time) *Sessions {
	return &Sessions{db: db, now: now, generations: newGenerations(db)}
}

// CreateSession implements signin.Store.
func (s *Sessions) CreateSession(ctx context.Context, ses signin.Session) (generation int64, err error) {
	issued := ses.Refresh.Issued.Unix()
	err = s.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		fresh, err := rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO used_nonces (ends, nonce) VALUES ($1, $2)
			ON CONFLICT DO NOTHING`,
			ses.NonceEnds.Unix(), ses.Nonce))
		if err != nil {
			return err
		}
		if !fresh {
			return deed.WithNext(deed.Invalid("message", "its nonce was used before: sign in with a new one"), deed.Next{Action: deed.ActionSignIn})
		}
		var atMost int
		err = tx.QueryRowContext(ctx, `
			INSERT INTO wallets (address, generation, created_at, last_active_at, sessions_at_most) VALUES ($1, 1, $2, $2, 1)
			ON CONFLICT (address) DO UPDATE SET last_active_at = excluded.last_active_at, sessions_at_most = wallets.sessions_at_most + 1
			RETURNING generation, sessions_at_most`,
			ses.Wallet, issued).Scan(&generation, &atMost)
		if err != nil {
			return err
		}
		if atMost > signin.MaxSessions {
			if err := s.db.limitSessions(ctx, tx, ses.Wallet, ses.Refresh.Issued); err != nil {
				return err
			}
		}
		if err := insertRefresh(ctx, tx, ses.Wallet, ses.Family, ses.Refresh); err != nil {
			return err
		}
		return s.sweep(ctx, tx)
	})
	return generation, err
}

// limitSessions counts the sessions of a wallet, whose row is locked and which gets one
// more. If there are too many, those that were refreshed the longest time ago end: so many
// that they need not be counted again soon.
func (db *DB) limitSessions(ctx context.Context, tx *Tx, w deed.Wallet, at time.Time) error {
	const live = `FROM refresh_tokens WHERE wallet = $1 AND used_at IS NULL AND ended_at IS NULL AND expires_at > $2`
	var sessions int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) `+live, w, at.Unix()).Scan(&sessions); err != nil {
		return err
	}
	if sessions >= signin.MaxSessions {
		sessions = signin.MaxSessions - signin.EndedAtOnce
		_, err := tx.ExecContext(ctx, `UPDATE refresh_tokens SET ended_at = $2 WHERE `+db.amongResults("hash", `
				SELECT hash `+live+` ORDER BY issued_at DESC, hash LIMIT $3 OFFSET $4`),
			w, at.Unix(), math.MaxInt32, sessions)
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE wallets SET sessions_at_most = $2 WHERE address = $1`, w, sessions+1)
	return err
}

func insertRefresh(ctx context.Context, tx *Tx, w deed.Wallet, family string, r signin.RefreshToken) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO refresh_tokens (hash, family, wallet, issued_at, expires_at)
		VALUES ($1, $2, $3, $4, $5)`,
		r.Hash, family, w, r.Issued.Unix(), r.Expires.Unix())
	return err
}

// sweep deletes expired rows, at most once per sweepInterval.
func (s *Sessions) sweep(ctx context.Context, tx *Tx) error {
	now := s.now().Unix()
	last := s.swept.Load()
	if now-last < int64(sweepInterval/time.Second) || !s.swept.CompareAndSwap(last, now) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM used_nonces WHERE ends <= $1`, now-int64(nonceRetention/time.Second)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, s.db.deleteTokens("expires_at"), now-int64(expiredRetention/time.Second), sweepLimit); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, s.db.deleteTokens("coalesce(used_at, ended_at)"), now-int64(usedRetention/time.Second), sweepLimit)
	return err
}

// deleteTokens is the statement that deletes tokens up to a time, and at most so many.
func (db *DB) deleteTokens(at string) string {
	return `DELETE FROM refresh_tokens WHERE ` + db.amongResults("hash", `SELECT hash FROM refresh_tokens WHERE `+at+` <= $1 LIMIT $2`)
}

// RotateRefresh implements signin.Store.
func (s *Sessions) RotateRefresh(ctx context.Context, hash string, next signin.RefreshToken) (w deed.Wallet, generation int64, err error) {
	var refused error // a refusal may revoke a family, which must be committed
	err = s.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var family string
		err := tx.QueryRowContext(ctx, `SELECT wallet, family FROM refresh_tokens WHERE hash = $1`, hash).Scan(&w, &family)
		if errors.Is(err, sql.ErrNoRows) {
			refused = signin.Refusal(deed.CodeTokenInvalid, "this is not a valid refresh token: sign in again")
			return nil
		}
		if err != nil {
			return err
		}
		// The row of the wallet serializes all changes of its tokens.
		err = tx.QueryRowContext(ctx, `
			UPDATE wallets SET last_active_at = $1 WHERE address = $2 RETURNING generation`,
			next.Issued.Unix(), w).Scan(&generation)
		if err != nil {
			return err
		}
		used, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE refresh_tokens SET used_at = $1
			 WHERE hash = $2 AND used_at IS NULL AND ended_at IS NULL AND expires_at > $1`,
			next.Issued.Unix(), hash))
		if err != nil {
			return err
		}
		if !used {
			refused, err = refuseRefresh(ctx, tx, hash, family, next.Issued)
			return err
		}
		return insertRefresh(ctx, tx, w, family, next)
	})
	if err == nil {
		err = refused
	}
	return w, generation, err
}

// refuseRefresh returns why a known token is not exchanged. A reused token may have been
// stolen, so its family is revoked (RFC 9700, 4.14.2).
func refuseRefresh(ctx context.Context, tx *Tx, hash, family string, at time.Time) (refused, err error) {
	var used, ended sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT used_at, ended_at FROM refresh_tokens WHERE hash = $1`, hash).Scan(&used, &ended)
	switch {
	case err != nil:
		return nil, err
	case used.Valid:
		_, err = tx.ExecContext(ctx, `
			UPDATE refresh_tokens SET ended_at = $1
			 WHERE family = $2 AND used_at IS NULL AND ended_at IS NULL`,
			at.Unix(), family)
		return signin.Refusal(deed.CodeTokenInvalid, "this refresh token was used before, so its session is ended: sign in again"), err
	case ended.Valid:
		return signin.Refusal(deed.CodeTokenInvalid, "this session was ended: sign in again"), nil
	}
	return signin.Refusal(deed.CodeTokenExpired, "the refresh token has expired: sign in again"), nil
}

// RevokeWallet implements signin.Store.
func (s *Sessions) RevokeWallet(ctx context.Context, w deed.Wallet, at time.Time) (sessions int, err error) {
	err = s.generations.change(w, func() (generation int64, err error) {
		err = s.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
			err := tx.QueryRowContext(ctx, `
				UPDATE wallets SET generation = generation + 1 WHERE address = $1 RETURNING generation`,
				w).Scan(&generation)
			if err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, `
				UPDATE refresh_tokens SET ended_at = $1
				 WHERE wallet = $2 AND used_at IS NULL AND ended_at IS NULL AND expires_at > $1`,
				at.Unix(), w)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			sessions = int(n)
			return err
		})
		return generation, err
	})
	return sessions, err
}

// Generation implements signin.Store.
func (s *Sessions) Generation(ctx context.Context, w deed.Wallet) (int64, error) {
	return s.generations.of(ctx, w)
}

// CheckKeys compares the fingerprints of this node's keys, by ID, with those of other
// nodes. It fails when none of them is known although others are: the tokens of one node
// would be invalid on another.
func (s *Sessions) CheckKeys(ctx context.Context, fingerprints map[string]string) error {
	return s.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var others, known int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM token_keys`).Scan(&others); err != nil {
			return err
		}
		for id, fingerprint := range fingerprints {
			same, err := rowsAffected(tx.ExecContext(ctx, `UPDATE token_keys SET fingerprint = fingerprint WHERE id = $1 AND fingerprint = $2`, id, fingerprint))
			if err != nil {
				return err
			}
			if same {
				known++
			}
		}
		if others > 0 && known == 0 {
			return errors.New("other token keys than this node's are in use on this database: copy the file signin.keys names from a node that runs")
		}
		for id, fingerprint := range fingerprints {
			if _, err := tx.ExecContext(ctx, `INSERT INTO token_keys (id, fingerprint) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, id, fingerprint); err != nil {
				return err
			}
		}
		return nil
	})
}
