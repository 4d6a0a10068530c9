package app

import (
	"context"
	"errors"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/local"
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

// Reconcile compares every name in the database with the registry, and changes
// nothing. The service may run meanwhile.
func Reconcile(ctx context.Context, c Config) (found registration.Reconciliation, err error) {
	db, err := openReadOnly(ctx, &c)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	calendar := sqldb.NewCalendar(db, time.Now)
	if err := calendar.Sync(ctx); err != nil {
		return found, err
	}
	registry := &local.Registry{Store: sqldb.Registry{DB: db}, Now: calendar.Now}
	return registration.Reconciler{Names: sqldb.Registrations{DB: db, Now: calendar.Now}, Inventory: registry, Manager: registry, Pause: settleDown}.Run(ctx)
}

// settleDown waits for changes in progress to complete.
func settleDown(ctx context.Context) {
	_ = sleep(ctx, 3*time.Second) // the next call fails if ctx is done
}
