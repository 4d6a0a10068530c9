package app

import (
	"context"
	"errors"

	"deed.example/deed/internal/sqldb"
)

// Schema returns the version of the database's schema, and what was added to it after an
// earlier version. The service may run.
func Schema(ctx context.Context, c Config, since int64) (version int64, added []sqldb.Addition, err error) {
	db, err := openAnyVersion(ctx, &c)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Schema(ctx, since)
}
