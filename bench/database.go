package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"deed.example/deed/internal/sqldb"
)

// openDatabase opens a SQLite database in a temporary folder; shut closes it and
// removes the folder.
func openDatabase() (dir string, db *sqldb.DB, shut func() error, err error) {
	if dir, err = os.MkdirTemp("", "deed-bench"); err != nil {
		return "", nil, nil, err
	}
	if db, err = sqldb.OpenSQLite(context.Background(), filepath.Join(dir, "deed.db")); err != nil {
		return "", nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, db, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, nil
}
