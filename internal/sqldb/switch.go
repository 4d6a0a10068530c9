package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
)

// Switches stores which activities operators have stopped, and which wallets they have
// blocked, on all nodes.
type Switches struct {
	DB  *DB
	Now func() time.Time
}

// Stopped returns the activities that are stopped, with the reasons.
func (s Switches) Stopped(ctx context.Context) (reasons map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `SELECT name, reason FROM stop_switches`)
	if err != nil {
		return nil, err
	}
	reasons = map[string]string{}
	err = eachRow(rows, func() error {
		var name, reason string
		err := rows.Scan(&name, &reason)
		reasons[name] = reason
		return err
	})
	return reasons, err
}

// Blocked returns the wallets that may not buy anything. There are few: operators block
// each one by hand.
func (s Switches) Blocked(ctx context.Context) (wallets map[deed.Wallet]bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `SELECT wallet FROM blocked_wallets`)
	if err != nil {
		return nil, err
	}
	wallets = map[deed.Wallet]bool{}
	err = eachRow(rows, func() error {
		var w deed.Wallet
		err := rows.Scan(&w)
		wallets[w] = true
		return err
	})
	return wallets, err
}
