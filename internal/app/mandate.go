package app

import (
	"context"

	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/worker"
)

var _ mandate.Store = sqldb.Mandates{}

// newMandates returns the service that renews names by mandates, or nil if this
// deployment takes no payments.
func (a *App) newMandates() *mandate.Service {
	if a.money == nil {
		return nil
	}
	_, ceiling := a.prices.Range()
	return &mandate.Service{
		Store: sqldb.Mandates{DB: a.DB, Asset: a.money.asset, Now: a.calendar.Now}, Names: a.registrations(), Prices: a.prices, Engine: a.engine,
		Asset: a.money.asset, PayTo: a.money.payTo, Ceiling: ceiling, Now: a.calendar.Now,
	}
}

// mandateRows returns the mandates, for the worker.
func (a *App) mandateRows() []worker.Rows {
	if a.mandates == nil {
		return nil
	}
	return []worker.Rows{{Name: "mandates", Due: func(ctx context.Context, limit int) ([]string, error) {
		if err := a.calendar.Sync(ctx); err != nil { // another node may have moved it
			return nil, err
		}
		return a.mandates.Due(ctx, limit)
	}, Advance: a.mandates.Advance, Slots: 4}}
}
