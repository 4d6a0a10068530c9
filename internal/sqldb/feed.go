package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/feed"
)

// Feeds implements feed.Store. Fill the field.
type Feeds struct{ DB *DB }

var errNoFeed = deed.Errorf(deed.CodeNotFound, "there is no such calendar feed")

// SetToken implements feed.Store.
func (s Feeds) SetToken(ctx context.Context, owner deed.Wallet, hash string, at time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO calendar_feeds (owner, token_hash, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (owner) DO UPDATE SET token_hash = $2, created_at = $3`, owner, hash, at.Unix())
		return err
	})
}

// Created implements feed.Store.
func (s Feeds) Created(ctx context.Context, owner deed.Wallet) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var at int64
	err := s.DB.read.QueryRowContext(ctx, `SELECT created_at FROM calendar_feeds WHERE owner = $1`, owner).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoFeed
	}
	return timeOrZero(at), err
}

// Revoke implements feed.Store.
func (s Feeds) Revoke(ctx context.Context, owner deed.Wallet) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		found, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM calendar_feeds WHERE owner = $1`, owner))
		if err == nil && !found {
			return errNoFeed
		}
		return err
	})
}

// Domains implements feed.Store.
func (s Feeds) Domains(ctx context.Context, hash string) (list []feed.Domain, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var owner deed.Wallet
	err = s.DB.read.QueryRowContext(ctx, `SELECT owner FROM calendar_feeds WHERE token_hash = $1`, hash).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoFeed
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT domain, expires_at FROM registrations WHERE owner = $1 AND status NOT IN ('transferred', 'pending_delete')
		 ORDER BY expires_at, domain`, owner)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var d feed.Domain
		var at int64
		err := rows.Scan(&d.Name, &at)
		d.Expires = timeOrZero(at)
		list = append(list, d)
		return err
	})
	return list, err
}
