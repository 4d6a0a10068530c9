package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// BackUp writes a consistent snapshot of the SQLite database to a new file at path,
// even while another process writes to it. The file gets its name when it is complete,
// verified and synced, and only its owner can read it.
func (db *DB) BackUp(ctx context.Context, path string) (err error) {
	if db.dialect != sqlite {
		return errors.New("this is not SQLite: pg_dump backs PostgreSQL up")
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s already exists: choose another name", path)
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part) // an incomplete backup is useless
		}
	}()
	defer f.Close() // it was synced
	if _, err := db.read.ExecContext(ctx, `VACUUM INTO $1`, part); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := checkFile(ctx, part); err != nil {
		return err
	}
	// Link fails when path was created concurrently; Rename would replace it.
	if err := errors.Join(os.Link(part, path), os.Remove(part)); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// checkFile runs the integrity check of SQLite.
func checkFile(ctx context.Context, path string) error {
	db, err := SQLiteConfig{Path: path}.open("mode=ro")
	if err != nil {
		return err
	}
	defer db.Close() // it was only read
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the copy is corrupt: %s", verdict)
	}
	return nil
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Republish makes every zone due, so that it gets a current serial, and raises the
// serial of the catalog. A database restored from a backup has old serials, which name
// servers with newer ones would ignore.
func (s Zones) Republish(ctx context.Context) (zones int64, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var res sql.Result
		if res, err = tx.ExecContext(ctx, `UPDATE zones SET renew_at = 1 WHERE ended_at IS NULL`); err != nil {
			return err
		}
		if zones, err = res.RowsAffected(); err != nil {
			return err
		}
		serial, _, err := raiseCatalog(ctx, tx, s.Now())
		if err != nil {
			return err
		}
		return forgetCatalog(ctx, tx, serial)
	})
	return zones, err
}
