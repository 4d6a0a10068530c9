package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
)

var (
	_ operator.Finder = sqldb.Operators{}
	_ operator.Log    = sqldb.Operators{}
	_ operator.Rows   = sqldb.Operators{}
	_ operator.Rules  = sqldb.Operators{}
)

// switchInterval is how often a node reads which activities are stopped, and which wallets
// are blocked.
const switchInterval = 2 * time.Second

// switches are the activities that operators have stopped, and the wallets that they have
// blocked, as this node knows them.
type switches struct {
	stopped atomic.Pointer[map[string]string] // reasons by activity; nil before the first read
	blocked atomic.Pointer[map[deed.Wallet]bool]
}

// check returns an error while the activity is stopped.
func (s *switches) check(activity string) error {
	if all := s.stopped.Load(); all != nil {
		if _, stopped := (*all)[activity]; stopped {
			return fmt.Errorf("%s are stopped by an operator", activity)
		}
	}
	return nil
}

// readSwitches reads which activities are stopped and which wallets are blocked, and logs
// which activities have changed.
func (a *App) readSwitches(ctx context.Context) error {
	store := sqldb.Switches{DB: a.DB}
	now, err := store.Stopped(ctx)
	if err != nil {
		return fmt.Errorf("read the stop switches: %w", err)
	}
	blocked, err := store.Blocked(ctx)
	if err != nil {
		return fmt.Errorf("read which wallets are blocked: %w", err)
	}
	a.switches.blocked.Store(&blocked)
	before := a.switches.stopped.Swap(&now)
	for _, activity := range operator.Activities {
		_, is := now[activity]
		was := false
		if before != nil {
			_, was = (*before)[activity]
		}
		switch {
		case is && !was:
			a.log.Warn("stopped by an operator", "activity", activity, "reason", now[activity])
		case was && !is:
			a.log.Info("started by an operator", "activity", activity)
		}
	}
	return nil
}

// admit decides whether a wallet may buy something new.
func (a *App) admit(_ context.Context, payer deed.Wallet) error {
	if a.switches.check(operator.Purchases) != nil {
		return &deed.Error{Code: deed.CodeUnavailable, Message: "nothing is sold at the moment: nothing was charged, try again later", Retry: time.Minute}
	}
	if blocked := a.switches.blocked.Load(); blocked != nil && (*blocked)[payer] {
		return deed.Errorf(deed.CodeOwnershipDenied, "this wallet may not buy anything here: ask %s why", a.config.Contact)
	}
	return nil
}

// A stoppableRefunder refunds unless operators have stopped refunds. Those that are due
// wait.
type stoppableRefunder struct {
	*chain.Settler
	check func() error
}

// Refund implements settle.Refunder.
func (r stoppableRefunder) Refund(ctx context.Context, refund settle.Refund) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	return r.Settler.Refund(ctx, refund)
}

// operatorRows returns what operators can find and change.
func (a *App) operatorRows() sqldb.Operators {
	return sqldb.Operators{DB: a.DB, Now: a.now, Zones: a.dns.zones, Payments: a.paymentRows(), Jobs: a.jobs()}
}

// newOperator returns the service behind the operators' listener.
func (a *App) newOperator() *operator.Service {
	rows := a.operatorRows()
	return &operator.Service{
		Finder: rows, Log: rows, Rows: rows, Rules: rows, Now: a.now, Changed: a.readSwitches,
		Release:    a.engine.Release,
		Replayable: sqldb.Webhooks{DB: a.DB, Now: a.now}.Replayable,
		Replay: func(ctx context.Context, webhookID, eventID string) error {
			store := sqldb.Webhooks{DB: a.DB, Now: a.now}
			owner, err := store.Owner(ctx, webhookID)
			if err == nil {
				_, err = store.Replay(ctx, owner, webhookID, eventID)
			}
			return err
		},
	}
}

// wireSwitches connects the stop switches with what they stop.
func (a *App) wireSwitches() {
	a.engine.Admit = a.admit
	if a.money != nil {
		a.money.payments.Refunder = stoppableRefunder{a.money.settler, func() error { return a.switches.check(operator.Refunds) }}
	}
	a.dns.stopped = func() bool { return a.switches.check(operator.Publishing) != nil }
}
