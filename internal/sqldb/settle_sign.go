package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed/internal/settle"
)

// errAllTaken rolls back a transaction with nothing to sign.
var errAllTaken = errors.New("every attempt was made already")

// Sign implements chain.Store. The nonce, the attempts and the signed bytes are written
// together, provided that the nonce is still the next one: nobody waits while a signer,
// which may be remote, signs. Who was too late signs again with the row of the signer
// locked; what was signed before is never sent. Behind a pooler the row is always locked.
func (s Settlements) Sign(ctx context.Context, in settle.Intent, sign func(nonce uint64, purposes []string) (settle.Transaction, error)) (signed settle.Transaction, err error) {
	err = s.DB.composed(ctx, func(ctx context.Context, tx *Tx) error {
		if tx.reads != nil {
			signed, err = s.signAtOnce(ctx, tx, in, sign)
			return err
		}
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
		if signed, err = sign(nonce, free); err != nil {
			return err
		}
		if err := s.skip(ctx, tx, in, stored, signed.SignedAt); err != nil {
			return err
		}
		return s.insert(ctx, tx, signed)
	})
	if errors.Is(err, errAllTaken) {
		return settle.Transaction{}, nil
	}
	return signed, err
}

// signAtOnce signs with the next nonce as it was read, for the purposes that were not
// taken then.
func (s Settlements) signAtOnce(ctx context.Context, tx *Tx, in settle.Intent, sign func(nonce uint64, purposes []string) (settle.Transaction, error)) (signed settle.Transaction, err error) {
	nonce, free := in.Next, in.Purposes
	if nonce == 0 {
		if nonce, free, err = s.readFree(ctx, tx, in); err != nil {
			return signed, err
		}
	}
	if nonce < in.First {
		return signed, errNeedsTx // there are nonces to skip
	}
	if len(free) == 0 {
		return signed, errAllTaken
	}
	if signed, err = sign(nonce, free); err != nil {
		return signed, err
	}
	tx.requireFirst(fmt.Errorf("nonce %d of %s was taken meanwhile", nonce, in.From), `
		UPDATE signers SET next_nonce = next_nonce + 1 WHERE chain = $1 AND address = $2 AND next_nonce = $3`, s.ChainID, in.From, nonce)
	attempts := make([][]any, len(free))
	for i, purpose := range free {
		attempts[i] = []any{s.ChainID, purpose, in.Attempt, string(in.From), nonce}
	}
	tx.queueRows("attempts", []string{"chain", "purpose", "attempt", "signer", "nonce"}, attempts)
	tx.queue(insertTransaction, s.insertArgs(signed)...)
	return signed, nil
}

// readFree reads the next nonce of the signer and which purposes are not taken.
func (s Settlements) readFree(ctx context.Context, tx *Tx, in settle.Intent) (nonce uint64, free []string, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT '', next_nonce FROM signers WHERE chain = $1 AND address = $2
		UNION ALL
		SELECT a.purpose, 0 FROM `+s.attemptsOf("$4")+` WHERE a.attempt = $3`,
		s.ChainID, in.From, in.Attempt, array(s.DB, in.Purposes))
	if err != nil {
		return 0, nil, fmt.Errorf("read the nonce of %s: %w", in.From, err)
	}
	taken, known := map[string]bool{}, false
	err = eachRow(rows, func() error {
		var purpose string
		var next uint64
		err := rows.Scan(&purpose, &next)
		if taken[purpose] = true; purpose == "" {
			nonce, known = next, true
		}
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read the nonce of %s: %w", in.From, err)
	}
	if !known {
		return 0, nil, errNeedsTx // a new signer
	}
	return nonce, slices.DeleteFunc(slices.Clone(in.Purposes), func(purpose string) bool { return taken[purpose] }), nil
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
	if err := s.checkSkipped(ctx, tx, in, stored, at); err != nil {
		return err
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

// checkSkipped fails if the account cannot have made so many transactions since its last
// stored one: an endpoint has returned a wrong count.
func (s Settlements) checkSkipped(ctx context.Context, tx *Tx, in settle.Intent, stored uint64, at time.Time) error {
	var last int64
	err := tx.QueryRowContext(ctx, `
		SELECT signed_at FROM transactions WHERE chain = $1 AND signer = $2 ORDER BY nonce DESC LIMIT 1`, s.ChainID, in.From).Scan(&last)
	switch since := time.Unix(last, 0); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read the last transaction of %s: %w", in.From, err)
	case in.First-stored > settle.MaxSkipped(at.Sub(since)):
		return fmt.Errorf("the RPC endpoint counts %d transactions of %s, and the database %d: so many cannot have been made since %s", in.First, in.From, stored, since.UTC().Format(time.RFC3339))
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
	if _, err := tx.ExecContext(ctx, insertTransaction, s.insertArgs(t)...); err != nil {
		return fmt.Errorf("store transaction %s: %w", t.Hash, err)
	}
	return nil
}

const insertTransaction = `
	INSERT INTO transactions (chain, signer, nonce, hash, raw, signed_at) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT DO NOTHING`

func (s Settlements) insertArgs(t settle.Transaction) []any {
	return []any{s.ChainID, t.From, t.Nonce, t.Hash, hex.EncodeToString(t.Raw), t.SignedAt.Unix()}
}
