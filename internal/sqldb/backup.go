package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"deed.example/deed"
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
// servers with newer ones would ignore. When it fails, it can be repeated.
func (s Zones) Republish(ctx context.Context) (zones int64, err error) {
	zones, err = s.inParts(ctx, "", func(ctx context.Context, tx *Tx, first, last string) (sql.Result, error) {
		return tx.ExecContext(ctx, `UPDATE zones SET renew_at = 1 WHERE ended_at IS NULL AND id BETWEEN $1 AND $2`, first, last)
	})
	if err != nil {
		return zones, err
	}
	return zones, s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		serial, _, err := raiseCatalog(ctx, tx, s.Now())
		if err != nil {
			return err
		}
		return forgetCatalog(ctx, tx, serial)
	})
}

// zonesPerPart is how many zones one transaction changes when all of them are to be
// changed: it must end within its timeout, and owners wait for the rows that it locks.
const zonesPerPart = 1000

// inParts calls change with the first and the last ID of the next zones, in a transaction for
// each part, until it was called for all zones, or for that of one name. It returns how many
// rows were changed.
func (s Zones) inParts(ctx context.Context, only deed.Name, change func(ctx context.Context, tx *Tx, first, last string) (sql.Result, error)) (rows int64, err error) {
	query, args := `SELECT id FROM zones WHERE ended_at IS NULL AND id > $1 ORDER BY id LIMIT $2`, []any{"", zonesPerPart}
	if only != "" {
		query, args = `SELECT id FROM zones WHERE ended_at IS NULL AND id > $1 AND domain = $3 LIMIT $2`, append(args, only)
	}
	for {
		ids, err := s.DB.readColumn(ctx, query, args...)
		if err != nil || len(ids) == 0 {
			return rows, err
		}
		first, last, changed := ids[0], ids[len(ids)-1], int64(0)
		err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
			res, err := change(ctx, tx, first, last)
			if err == nil {
				changed, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return rows, err
		}
		rows, args[0] = rows+changed, last
	}
}
