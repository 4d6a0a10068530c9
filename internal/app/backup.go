package app

import (
	"context"
	"errors"
	"time"

	"deed.example/deed/internal/sqldb"
)

// BackUp copies the SQLite database of a service, which may run, to a new file.
func BackUp(ctx context.Context, c Config, path string) (err error) {
	db, err := connectReadOnly(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.BackUp(ctx, path)
}

// Republish gives every zone a new serial, after a restore. It returns how many
// there are.
func Republish(ctx context.Context, c Config) (zones int64, err error) {
	db, err := openExisting(ctx, &c)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	clock := sqldb.NewClock(db, time.Now)
	if err := clock.Sync(ctx); err != nil {
		return 0, err
	}
	return sqldb.Zones{DB: db, Now: clock.Now}.Republish(ctx)
}
