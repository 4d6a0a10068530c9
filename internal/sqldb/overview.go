package sqldb

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
)

// A Group is how many rows are in a state, and since when the oldest one is.
type Group struct {
	Kind   string // of a job; "" for others
	State  string
	Count  int
	Sum    deed.USDC // of payments
	Oldest time.Time // when the oldest one got there
}

// A SignerNonce is the next nonce of one of our wallets.
type SignerNonce struct {
	Wallet deed.Wallet
	Nonce  uint64
}

// An Overview is what is under way. Rows that have ended are not counted: there may be
// millions.
type Overview struct {
	Payments []Group
	Jobs     []Group
	Webhooks Group // deliveries that wait
	Signers  []SignerNonce
	Stopped  map[string]string // reasons by activity
	Nodes    []Node
}

// Overview reads what is under way on the chain.
func (db *DB) Overview(ctx context.Context, chainID uint64) (o Overview, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	// Both queries read partial indexes of the rows that have something to do.
	if o.Payments, err = db.groups(ctx, `
		SELECT '', state, count(*), coalesce(sum(amount), 0), coalesce(min(changed_at), 0)
		  FROM payments WHERE next_at IS NOT NULL GROUP BY state ORDER BY state`); err != nil {
		return o, fmt.Errorf("count payments: %w", err)
	}
	if o.Jobs, err = db.groups(ctx, `
		SELECT kind, state, count(*), 0, coalesce(min(updated_at), 0)
		  FROM jobs WHERE next_at IS NOT NULL GROUP BY kind, state ORDER BY kind, state`); err != nil {
		return o, fmt.Errorf("count jobs: %w", err)
	}
	waiting, err := db.groups(ctx, `
		SELECT '', 'pending', count(*), 0, coalesce(min(created_at), 0) FROM webhook_deliveries WHERE state = 'pending'`)
	if err != nil {
		return o, fmt.Errorf("count deliveries: %w", err)
	}
	o.Webhooks = waiting[0]
	if o.Signers, err = db.signerNonces(ctx, chainID); err != nil {
		return o, fmt.Errorf("read nonces: %w", err)
	}
	if o.Stopped, err = (Switches{DB: db}).Stopped(ctx); err != nil {
		return o, fmt.Errorf("read the stop switches: %w", err)
	}
	if o.Nodes, err = (Nodes{DB: db}).All(ctx); err != nil {
		return o, fmt.Errorf("read the nodes: %w", err)
	}
	return o, nil
}

func (db *DB) groups(ctx context.Context, query string) (all []Group, err error) {
	rows, err := db.read.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var g Group
		var oldest int64
		err := rows.Scan(&g.Kind, &g.State, &g.Count, &g.Sum, &oldest)
		g.Oldest = timeOrZero(oldest)
		all = append(all, g)
		return err
	})
	return all, err
}

func (db *DB) signerNonces(ctx context.Context, chainID uint64) (all []SignerNonce, err error) {
	rows, err := db.read.QueryContext(ctx, `SELECT address, next_nonce FROM signers WHERE chain = $1 ORDER BY address`, chainID)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var s SignerNonce
		err := rows.Scan(&s.Wallet, &s.Nonce)
		all = append(all, s)
		return err
	})
	return all, err
}
