package app

import (
	"context"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/sqldb"
)

// RollKeys has the keys of all signed zones replaced, or that of one, and returns of how
// many. The service does it when it runs.
func RollKeys(ctx context.Context, c Config, only deed.Name) (zones int64, err error) {
	db, err := openExisting(ctx, &c)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	a := &App{DB: db, config: c}
	masters, err := a.openMasters()
	if err != nil {
		return 0, err
	}
	clock := sqldb.NewClock(db, time.Now)
	calendar := sqldb.NewCalendar(db, clock.Now)
	if err := errors.Join(clock.Sync(ctx), calendar.Sync(ctx)); err != nil {
		return 0, err
	}
	z := sqldb.Zones{DB: db, Now: clock.Now, SignatureClock: calendar.Now, Publishing: c.publishing(masters)}
	if err := z.CheckMaster(ctx); err != nil {
		return 0, err
	}
	return z.RequestKeyRolls(ctx, only)
}

// KeyRolls counts the keys that are being replaced. The service may run meanwhile.
func KeyRolls(ctx context.Context, c Config) (counts map[lifecycle.KeyRollStep]int, err error) {
	db, err := openReadOnly(ctx, &c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return sqldb.Zones{DB: db}.KeyRollCounts(ctx)
}
