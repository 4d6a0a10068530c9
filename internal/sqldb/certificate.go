package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
)

// Certificates stores the files and locks of the package redirect: the account at the
// certificate authority, and the certificates of hosts with a FORWARD record, with their
// keys. The files are encrypted with the Sealer of the database. Fill every field.
type Certificates struct {
	DB  *DB
	Now func() time.Time
}

func certificateContext(key string) string { return "certificate " + key }

// SaveFile implements redirect.Store.
func (s Certificates) SaveFile(ctx context.Context, key string, value []byte) error {
	sealed, err := s.DB.seal(certificateContext(key), string(value))
	if err != nil {
		return err
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO certificate_files (key, sealed, saved_at) VALUES ($1, $2, $3)
			ON CONFLICT (key) DO UPDATE SET sealed = excluded.sealed, saved_at = excluded.saved_at`,
			key, sealed, s.Now().Unix())
		return err
	})
}

// File implements redirect.Store.
func (s Certificates) File(ctx context.Context, key string) ([]byte, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var text string
	var saved int64
	err := s.DB.read.QueryRowContext(ctx, `SELECT sealed, saved_at FROM certificate_files WHERE key = $1`, key).Scan(&text, &saved)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, time.Time{}, deed.Errorf(deed.CodeNotFound, "there is no file %s", deed.Quoted(key))
	}
	if err == nil {
		text, err = s.DB.unseal(certificateContext(key), text)
	}
	return []byte(text), time.Unix(saved, 0), err
}

// inFolder is true for the files of a folder, whose path with a slash at the end is $1.
// No index helps, but folders are listed and deleted only when old files are.
const inFolder = ` substr(key, 1, length($1)) = $1`

// Files implements redirect.Store.
func (s Certificates) Files(ctx context.Context, folder string) ([]string, error) {
	return s.DB.readColumn(ctx, `SELECT key FROM certificate_files WHERE`+inFolder+` ORDER BY key`, folder+"/")
}

// DeleteFiles implements redirect.Store.
func (s Certificates) DeleteFiles(ctx context.Context, key string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		deleted, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM certificate_files WHERE key = $1`, key))
		if err != nil || deleted {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM certificate_files WHERE`+inFolder, key+"/")
		return err
	})
}

// Lock implements redirect.Locks.
func (s Certificates) Lock(ctx context.Context, name, holder string, until time.Time) (locked bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		locked, err = rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO certificate_locks (name, holder, lease_until) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
			 WHERE certificate_locks.holder = excluded.holder OR certificate_locks.lease_until <= $4`,
			name, holder, until.Unix(), s.Now().Unix()))
		return err
	})
	return locked, err
}

// Unlock implements redirect.Locks.
func (s Certificates) Unlock(ctx context.Context, name, holder string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM certificate_locks WHERE name = $1 AND holder = $2`, name, holder)
		return err
	})
}
