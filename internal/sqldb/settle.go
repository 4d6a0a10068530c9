package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
)

// Settlements implements chain.Store: the transactions we signed for one chain.
// Fill both fields.
type Settlements struct {
	DB      *DB
	ChainID uint64
}

const (
	maxUnmined  = 512 // transactions that one question returns
	maxPurposes = 256 // that one statement asks for
)

// errAllTaken takes back a transaction that has nothing to do.
var errAllTaken = errors.New("every attempt was made already")

// Sign implements chain.Store. The row of the signer is held until the signed
// bytes are written, so processes that share the database go one by one.
func (s Settlements) Sign(ctx context.Context, in deed.Intent, sign func(nonce uint64, purposes []string) (deed.Transaction, error)) error {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var next uint64
		err := tx.QueryRowContext(ctx, `
			INSERT INTO signers (chain, address, next_nonce) VALUES ($1, $2, $3)
			ON CONFLICT (chain, address) DO UPDATE SET next_nonce = signers.next_nonce + 1
			RETURNING next_nonce`,
			s.ChainID, in.From, in.First+1).Scan(&next)
		if err != nil {
			return fmt.Errorf("take a nonce of %s: %w", in.From, err)
		}
		free, err := s.take(ctx, tx, in, next-1)
		if err != nil {
			return err
		}
		if len(free) == 0 {
			return errAllTaken
		}
		signed, err := sign(next-1, free)
		if err != nil {
			return err
		}
		return s.insert(ctx, tx, signed)
	})
	if errors.Is(err, errAllTaken) {
		return nil
	}
	return err
}

// take writes the attempts down and returns the purposes nobody was ahead with.
func (s Settlements) take(ctx context.Context, tx *Tx, in deed.Intent, nonce uint64) (free []string, err error) {
	for _, purpose := range in.Purposes {
		ours, err := touched(tx.ExecContext(ctx, `
			INSERT INTO attempts (chain, purpose, attempt, signer, nonce) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING`,
			s.ChainID, purpose, in.Attempt, in.From, nonce))
		if err != nil {
			return nil, fmt.Errorf("take attempt %d of %s: %w", in.Attempt, purpose, err)
		}
		if ours {
			free = append(free, purpose)
		}
	}
	return free, nil
}

func (s Settlements) insert(ctx context.Context, tx *Tx, t deed.Transaction) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO transactions (chain, signer, nonce, hash, raw, signed_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`,
		s.ChainID, t.From, t.Nonce, t.Hash, hex.EncodeToString(t.Raw), t.SignedAt.Unix())
	if err != nil {
		return fmt.Errorf("keep transaction %s: %w", t.Hash, err)
	}
	return nil
}

// Outbid implements chain.Store.
func (s Settlements) Outbid(ctx context.Context, t deed.Transaction) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.insert(ctx, tx, t) })
}

// Sent implements chain.Store.
func (s Settlements) Sent(ctx context.Context, purposes []string) (map[string][]deed.Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	sent := map[string][]deed.Transaction{}
	for len(purposes) > 0 {
		n := min(len(purposes), maxPurposes)
		if err := s.sent(ctx, purposes[:n], sent); err != nil {
			return nil, fmt.Errorf("read what was sent: %w", err)
		}
		purposes = purposes[n:]
	}
	return sent, nil
}

func (s Settlements) sent(ctx context.Context, purposes []string, into map[string][]deed.Transaction) error {
	args := []any{s.ChainID}
	var places []string
	for i, p := range purposes {
		args = append(args, p)
		places = append(places, fmt.Sprintf("$%d", i+2))
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT a.purpose, a.attempt, t.signer, t.nonce, t.hash, t.signed_at
		  FROM attempts a JOIN transactions t ON t.chain = a.chain AND t.signer = a.signer AND t.nonce = a.nonce
		 WHERE a.chain = $1 AND a.purpose IN (`+strings.Join(places, ", ")+`)
		 ORDER BY a.attempt, t.signed_at`, args...)
	if err != nil {
		return err
	}
	return each(rows, func() error {
		var purpose string
		var t deed.Transaction
		var at int64
		if err := rows.Scan(&purpose, &t.Attempt, &t.From, &t.Nonce, &t.Hash, &at); err != nil {
			return err
		}
		t.SignedAt = time.Unix(at, 0)
		into[purpose] = append(into[purpose], t)
		return nil
	})
}

// Unmined implements chain.Store.
func (s Settlements) Unmined(ctx context.Context, from deed.Wallet, nonce uint64) (all []deed.Transaction, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT nonce, hash, raw, signed_at FROM transactions
		 WHERE chain = $1 AND signer = $2 AND nonce >= $3
		 ORDER BY nonce, signed_at LIMIT $4`,
		s.ChainID, from, nonce, maxUnmined)
	if err != nil {
		return nil, fmt.Errorf("read transactions of %s: %w", from, err)
	}
	err = each(rows, func() error {
		t := deed.Transaction{From: from}
		var raw string
		var at int64
		if err := rows.Scan(&t.Nonce, &t.Hash, &raw, &at); err != nil {
			return err
		}
		t.SignedAt = time.Unix(at, 0)
		t.Raw, err = hex.DecodeString(raw)
		all = append(all, t)
		return err
	})
	return all, err
}

// each calls read for every row and closes them.
func each(rows *sql.Rows, read func() error) error {
	defer rows.Close() // Err below tells what matters
	for rows.Next() {
		if err := read(); err != nil {
			return err
		}
	}
	return rows.Err()
}
