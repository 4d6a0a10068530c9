package app

import (
	"context"
	"errors"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

var _ registration.NameLister = sqldb.Registrations{}

// ForEachName calls f for every name in the database, sorted, with the transaction
// that paid for it. The service may run meanwhile.
func ForEachName(ctx context.Context, c Config, f func(r lifecycle.Registration, txHash string) error) (err error) {
	db, err := openReadOnly(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return sqldb.Registrations{DB: db}.ForEach(ctx, f)
}

// Reconcile compares every name in the database with its registrar, and changes
// nothing. With sets where it begins and who is told. The service may run meanwhile.
func Reconcile(ctx context.Context, c Config, with func(r *registration.Reconciler)) (found registration.Reconciliation, err error) {
	return found, withRegistrars(ctx, c, openReadOnly, func(a *App) error {
		r := a.Reconciler()
		with(&r)
		found, err = r.Run(ctx)
		return err
	})
}

// Reconciler returns what compares the names in the database with the registrars.
func (a *App) Reconciler() registration.Reconciler {
	names := sqldb.Registrations{DB: a.DB, Now: a.calendar.Now}
	return registration.Reconciler{Names: names, Inventory: a.registrar, Manager: a.registrar, Pace: a.pace, BackendOf: a.registrar.BackendOf, Pause: settleDown}
}

// withRegistrars calls f with an App that has the registrars, on a database that it
// only reads: the service may run meanwhile.
func withRegistrars(ctx context.Context, c Config, open func(context.Context, *Config) (*sqldb.DB, error), f func(a *App) error) (err error) {
	db, err := open(ctx, &c)
	if err != nil {
		return err
	}
	a := &App{DB: db, config: c, log: c.logger(), chain: &chainBackend{}}
	defer func() { err = errors.Join(err, a.closeRegistrars(), db.Close()) }()
	a.calendar = sqldb.NewCalendar(db, time.Now)
	if err := a.calendar.Sync(ctx); err != nil {
		return err
	}
	if a.prices, err = c.Prices(); err != nil {
		return err
	}
	if _, err := a.openMasters(); err != nil {
		return err
	}
	if err := a.openRegistrars(); err != nil {
		return err
	}
	return f(a)
}

// settleDown waits for changes in progress to complete.
func settleDown(ctx context.Context) {
	_ = sleep(ctx, 3*time.Second) // the next call fails if ctx is done
}
