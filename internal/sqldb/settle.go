package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
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

// StoreReplacement implements chain.Store.
func (s Settlements) StoreReplacement(ctx context.Context, t settle.Transaction) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.insert(ctx, tx, t) })
}

// Sent implements chain.Store.
func (s Settlements) Sent(ctx context.Context, from deed.Wallet, purposes []string) (settle.Sent, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	sent := settle.Sent{For: map[string][]settle.Transaction{}}
	purposes = slices.Compact(slices.Sorted(slices.Values(purposes))) // two payments may have one nonce
	for some := range slices.Chunk(purposes, maxPurposes) {
		if err := s.sent(ctx, from, some, &sent); err != nil {
			return settle.Sent{}, fmt.Errorf("read what was sent: %w", err)
		}
	}
	return sent, nil
}

func (s Settlements) sent(ctx context.Context, from deed.Wallet, purposes []string, into *settle.Sent) error {
	rows, err := s.DB.query(ctx, `
		SELECT '' AS purpose, 0 AS attempt, '' AS signer, next_nonce AS nonce, '' AS hash, 0 AS signed_at
		  FROM signers WHERE chain = $1 AND address = $3
		UNION ALL
		SELECT a.purpose, a.attempt, coalesce(t.signer, ''), coalesce(t.nonce, 0), coalesce(t.hash, ''), coalesce(t.signed_at, 0)
		  FROM `+s.attemptsOf("$2")+` LEFT JOIN transactions t ON t.chain = a.chain AND t.signer = a.signer AND t.nonce = a.nonce
		 ORDER BY attempt, signed_at, hash`, s.ChainID, array(s.DB, purposes), from)
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
		if purpose == "" {
			into.Next = t.Nonce
			return nil
		}
		t.SignedAt = time.Unix(at, 0)
		into.For[purpose] = append(into.For[purpose], t)
		return nil
	})
}

// attemptsOf returns the attempts for the purposes in the array at a placeholder, as the
// table a, for a statement whose first argument is the chain. While PostgreSQL has no
// statistics of the table, it would rather read all attempts of the chain.
func (s Settlements) attemptsOf(place string) string {
	if s.DB.dialect == postgres {
		return `unnest(` + place + `::text[]) AS given(purpose)
			CROSS JOIN LATERAL (SELECT * FROM attempts WHERE chain = $1 AND purpose = given.purpose OFFSET 0) a`
	}
	return `json_each(` + place + `) AS given CROSS JOIN attempts a ON a.chain = $1 AND a.purpose = given.value` // in this order
}

// Unmined implements chain.Store.
func (s Settlements) Unmined(ctx context.Context, from deed.Wallet, nonce uint64) (all []settle.Transaction, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.query(ctx, `
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
	rows, err := s.DB.query(ctx, `
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
