package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

type dialect string

const (
	sqlite   dialect = "SQLite"
	postgres dialect = "PostgreSQL"
)

// writerOptions are those of the connection that writes. What a savepoint keeps of the pages
// that change after it stays in memory: a file for it took a seventh of the processor time of
// a job. The log is copied into the database every 16 MB, not every 4, which is the default:
// a page that changes with every sale is copied less often.
var writerOptions = []string{
	"_txlock=immediate",
	"_pragma=journal_mode(WAL)",
	"_pragma=synchronous(FULL)",
	"_pragma=temp_store(MEMORY)",
	"_pragma=wal_autocheckpoint(4000)", // pages of 4 kB
}

// SQLiteConfig says which file is opened. Only Path is required.
type SQLiteConfig struct {
	Path  string
	Trace Trace // nil for none
}

// OpenSQLite opens or creates the file at path and migrates its schema. It fails when
// another process has the file open.
func OpenSQLite(ctx context.Context, path string) (*DB, error) {
	return OpenSQLiteWith(ctx, SQLiteConfig{Path: path})
}

// OpenSQLiteWith is OpenSQLite with a configuration.
//
// SQLite has one writer at a time: writers queue for the only connection of the write
// pool, not for the lock of the file, and concurrent ones share a commit (see group).
// Readers have a separate read-only pool, which writers do not block (WAL). A commit is
// durable before it returns (synchronous FULL), because the rows are money.
func OpenSQLiteWith(ctx context.Context, c SQLiteConfig) (*DB, error) {
	release, err := lockFile(c.Path + ".lock")
	if err != nil {
		return nil, err
	}
	if err := createFile(c.Path); err != nil {
		return nil, errors.Join(err, release())
	}
	write, err := c.open(writerOptions...)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	write.SetMaxOpenConns(1)
	read, err := c.open("mode=ro")
	if err != nil {
		return nil, errors.Join(err, write.Close(), release())
	}
	read.SetMaxOpenConns(4 * runtime.NumCPU())
	read.SetMaxIdleConns(4 * runtime.NumCPU())
	return (&DB{Timeout: defaultTimeout, write: write, read: read, dialect: sqlite, group: newGroup(write), path: c.Path, release: release}).ready(ctx)
}

// createFile creates the database file at path if there is none. Only its owner can read
// it, and what SQLite puts beside it: it says who bought what.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// OpenSQLiteReadOnly opens the file at path read-only, even while another process owns
// it. Its schema must be up to date.
func OpenSQLiteReadOnly(path string) (*DB, error) {
	read, err := SQLiteConfig{Path: path}.open("mode=ro")
	if err != nil {
		return nil, err
	}
	return &DB{Timeout: defaultTimeout, write: read, read: read, dialect: sqlite, readOnly: true, release: func() error { return nil }}, nil
}

// Created reports whether the database has a schema: a service has started on it.
func (db *DB) Created(ctx context.Context) (bool, error) {
	query := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version'`
	if db.dialect == postgres {
		query = `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version'`
	}
	var n int
	if err := db.read.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return false, fmt.Errorf("look for the schema: %w", err)
	}
	return n > 0, nil
}

func (c SQLiteConfig) open(options ...string) (*sql.DB, error) {
	dsn := (&url.URL{Scheme: "file", Opaque: url.PathEscape(c.Path)}).String() + "?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	for _, o := range options {
		dsn += "&" + o
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Path, err)
	}
	if c.Trace != nil {
		return sql.OpenDB(tracedFile{db.Driver(), dsn, c.Trace}), db.Close()
	}
	return db, nil
}

// OpenMemory opens a new in-memory database, which is deleted when closed: for
// simulations, which need thousands of fresh ones. The schema is created once, by the
// migrations, and copied after that. Reads and writes share its one connection, since
// each connection has a separate database.
func OpenMemory(ctx context.Context) (*DB, error) {
	image, err := memoryImage()
	if err != nil {
		return nil, err
	}
	db, err := newMemory()
	if err != nil {
		return nil, err
	}
	err = withConn(ctx, db.write, func(c imager) error { return c.Deserialize(image) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the schema: %w", err), db.Close())
	}
	return db, nil
}

// memoryImage returns the bytes of a migrated, empty database.
var memoryImage = sync.OnceValues(func() (image []byte, err error) {
	db, err := newMemory()
	if err != nil {
		return nil, err
	}
	if db, err = db.ready(context.Background()); err != nil {
		return nil, err
	}
	err = withConn(context.Background(), db.write, func(c imager) error {
		image, err = c.Serialize()
		return err
	})
	return image, errors.Join(err, db.Close())
})

// Image serializes an in-memory database, as the backup of a simulation.
func (db *DB) Image(ctx context.Context) (image []byte, err error) {
	err = withConn(ctx, db.write, func(c imager) error {
		image, err = c.Serialize()
		return err
	})
	return image, err
}

// SetImage replaces the content of an in-memory database. It must not be in use, and
// nothing may have called json_each before: SQLite keeps its table with the old schema.
func (db *DB) SetImage(ctx context.Context, image []byte) error {
	return withConn(ctx, db.write, func(c imager) error { return c.Deserialize(image) })
}

func newMemory() (*DB, error) {
	pool, err := sql.Open("sqlite", "file::memory:?_txlock=immediate&_pragma=foreign_keys(1)")
	if err != nil {
		return nil, fmt.Errorf("open an in-memory database: %w", err)
	}
	pool.SetMaxOpenConns(1)
	return &DB{Timeout: defaultTimeout, write: pool, read: pool, dialect: sqlite, group: newGroup(pool), release: func() error { return nil }}, nil
}

// An imager is a driver connection of SQLite.
type imager interface {
	Serialize() ([]byte, error)
	Deserialize([]byte) error
}

func withConn(ctx context.Context, pool *sql.DB, f func(imager) error) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(c any) error { return f(c.(imager)) })
	return errors.Join(err, conn.Close())
}

func (db *DB) ready(ctx context.Context) (*DB, error) {
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the schema of %s: %w", db.dialect, err), db.Close())
	}
	return db, nil
}
