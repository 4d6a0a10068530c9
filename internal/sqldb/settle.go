package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// Settlements implements chain.Store: the signed transactions of one chain. Fill both
// fields.
type Settlements struct {
	DB      *DB
	ChainID uint64
}

const (
	maxUnmined  = 512 // rows per query
	maxPurposes = 256 // purposes per statement
)

// errAllTaken rolls back a transaction with nothing to sign.
var errAllTaken = errors.New("every attempt was made already")

// Sign implements chain.Store. The row of the signer is locked until the signed bytes
// are written, so processes that share the database are serialized.
func (s Settlements) Sign(ctx context.Context, in settle.Intent, sign func(nonce uint64, purposes []string) (settle.Transaction, error)) error {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		stored, err := s.nextNonce(ctx, tx, in)
		if err != nil {
			return err
		}
		nonce := max(stored, in.First)
		free, err := s.take(ctx, tx, in, nonce)
		if err != nil {
			return err
		}
		if len(free) == 0 {
			return errAllTaken
		}
		signed, err := sign(nonce, free)
		if err != nil {
			return err
		}
		if err := s.skip(ctx, tx, in, stored, signed.SignedAt); err != nil {
			return err
		}
		return s.insert(ctx, tx, signed)
	})
	if errors.Is(err, errAllTaken) {
		return nil
	}
	return err
}

// nextNonce locks the row of the signer and takes its next nonce.
func (s Settlements) nextNonce(ctx context.Context, tx *Tx, in settle.Intent) (nonce uint64, err error) {
	err = tx.QueryRowContext(ctx, `
		INSERT INTO signers (chain, address, next_nonce) VALUES ($1, $2, $3)
		ON CONFLICT (chain, address) DO UPDATE SET next_nonce = signers.next_nonce + 1
		RETURNING next_nonce`,
		s.ChainID, in.From, in.First+1).Scan(&nonce)
	if err != nil {
		return 0, fmt.Errorf("take a nonce of %s: %w", in.From, err)
	}
	return nonce - 1, nil
}

// skip continues from the nonce of the chain when that is ahead of the stored one, and
// stores the nonces in between as foreign: they were mined, and none of our stored
// transactions can have them.
func (s Settlements) skip(ctx context.Context, tx *Tx, in settle.Intent, stored uint64, at time.Time) error {
	if stored >= in.First {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE signers SET next_nonce = $1 WHERE chain = $2 AND address = $3`, in.First+1, s.ChainID, in.From)
	if err != nil {
		return fmt.Errorf("continue from nonce %d of %s: %w", in.First, in.From, err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO foreign_nonces (chain, signer, first_nonce, last_nonce, seen_at) VALUES ($1, $2, $3, $4, $5)`,
		s.ChainID, in.From, stored, in.First-1, at.Unix())
	if err != nil {
		return fmt.Errorf("store foreign nonces of %s: %w", in.From, err)
	}
	return nil
}

// take stores the attempts and returns the purposes that were not taken yet.
func (s Settlements) take(ctx context.Context, tx *Tx, in settle.Intent, nonce uint64) (free []string, err error) {
	rows := make([][]any, len(in.Purposes))
	for i, purpose := range in.Purposes {
		rows[i] = []any{purpose}
	}
	for chunk := range tx.chunks(rows) {
		given, args := tx.rows(5, []string{"purpose"}, chunk)
		taken, err := tx.QueryContext(ctx, `
			INSERT INTO attempts (chain, purpose, attempt, signer, nonce)
			SELECT $1, given.purpose, $2, $3, $4 FROM `+given+` WHERE true
			ON CONFLICT DO NOTHING RETURNING purpose`,
			append([]any{s.ChainID, in.Attempt, in.From, nonce}, args...)...)
		if err == nil {
			err = eachRow(taken, func() error {
				var purpose string
				err := taken.Scan(&purpose)
				free = append(free, purpose)
				return err
			})
		}
		if err != nil {
			return nil, fmt.Errorf("take attempt %d of %d payments: %w", in.Attempt, len(in.Purposes), err)
		}
	}
	return free, nil
}

func (s Settlements) insert(ctx context.Context, tx *Tx, t settle.Transaction) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO transactions (chain, signer, nonce, hash, raw, signed_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`,
		s.ChainID, t.From, t.Nonce, t.Hash, hex.EncodeToString(t.Raw), t.SignedAt.Unix())
	if err != nil {
		return fmt.Errorf("store transaction %s: %w", t.Hash, err)
	}
	return nil
}

// Abandon implements chain.Store. The tombstone has the number of the next attempt, so
// only one of the two can be written.
func (s Settlements) Abandon(ctx context.Context, purpose string, attempt int) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO attempts (chain, purpose, attempt) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			s.ChainID, purpose, attempt)
		if err != nil {
			return fmt.Errorf("abandon %s: %w", purpose, err)
		}
		var signer sql.NullString
		err = tx.QueryRowContext(ctx, `SELECT signer FROM attempts WHERE chain = $1 AND purpose = $2 AND attempt = $3`,
			s.ChainID, purpose, attempt).Scan(&signer)
		if err != nil {
			return fmt.Errorf("abandon %s: %w", purpose, err)
		}
		if signer.Valid {
			return fmt.Errorf("abandon %s: attempt %d was made in the meantime", purpose, attempt)
		}
		return nil
	})
}

// Outbid implements chain.Store.
func (s Settlements) Outbid(ctx context.Context, t settle.Transaction) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.insert(ctx, tx, t) })
}

// Sent implements chain.Store.
func (s Settlements) Sent(ctx context.Context, purposes []string) (map[string][]settle.Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	sent := map[string][]settle.Transaction{}
	for len(purposes) > 0 {
		n := min(len(purposes), maxPurposes)
		if err := s.sent(ctx, purposes[:n], sent); err != nil {
			return nil, fmt.Errorf("read what was sent: %w", err)
		}
		purposes = purposes[n:]
	}
	return sent, nil
}

func (s Settlements) sent(ctx context.Context, purposes []string, into map[string][]settle.Transaction) error {
	args := []any{s.ChainID}
	for _, p := range purposes {
		args = append(args, p)
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT a.purpose, a.attempt, coalesce(t.signer, ''), coalesce(t.nonce, 0), coalesce(t.hash, ''), coalesce(t.signed_at, 0)
		  FROM attempts a LEFT JOIN transactions t ON t.chain = a.chain AND t.signer = a.signer AND t.nonce = a.nonce
		 WHERE a.chain = $1 AND a.purpose IN (`+places(2, len(purposes))+`)
		 ORDER BY a.attempt, t.signed_at, t.hash`, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, func() error {
		var purpose string
		var t settle.Transaction
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
func (s Settlements) Unmined(ctx context.Context, from deed.Wallet, nonce uint64) (all []settle.Transaction, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT nonce, hash, raw, signed_at FROM transactions
		 WHERE chain = $1 AND signer = $2 AND nonce >= $3
		 ORDER BY nonce, signed_at LIMIT $4`,
		s.ChainID, from, nonce, maxUnmined)
	if err != nil {
		return nil, fmt.Errorf("read transactions of %s: %w", from, err)
	}
	err = eachRow(rows, func() error {
		t := settle.Transaction{From: from}
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

// AddWallet implements chain.Store.
func (s Settlements) AddWallet(ctx context.Context, role string, w deed.Wallet, at time.Time) error {
	if s.DB.readOnly {
		return nil // an audit uses the wallets that a node has stored
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO own_wallets (chain, role, address, first_used_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			s.ChainID, role, w, at.Unix())
		if err != nil {
			return fmt.Errorf("store our %s wallet %s: %w", role, w, err)
		}
		return nil
	})
}

// Wallets implements chain.Store.
func (s Settlements) Wallets(ctx context.Context) (map[string][]deed.Wallet, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT role, address FROM own_wallets WHERE chain = $1 ORDER BY first_used_at, address`, s.ChainID)
	if err != nil {
		return nil, fmt.Errorf("read our wallets: %w", err)
	}
	byRole := map[string][]deed.Wallet{}
	err = eachRow(rows, func() error {
		var role string
		var w deed.Wallet
		if err := rows.Scan(&role, &w); err != nil {
			return err
		}
		byRole[role] = append(byRole[role], w)
		return nil
	})
	return byRole, err
}

// eachRow calls read for every row and closes the rows.
func eachRow(rows *sql.Rows, read func() error) error {
	defer rows.Close() // Err below returns the error
	for rows.Next() {
		if err := read(); err != nil {
			return err
		}
	}
	return rows.Err()
}
