package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/tracing"
)

// The backends implement the interfaces of the services.
var (
	_ deed.Counter = (*memory.Cache)(nil)
	_ deed.Counter = (*redis.Cache)(nil)
	_ deed.Counter = sqldb.Limits{}

	_ signin.Store    = (*sqldb.Sessions)(nil)
	_ signin.Verifier = (*chain.Client)(nil)
)

func openDatabase(ctx context.Context, c *Config) (*sqldb.DB, error) {
	if c.Hooks.DB != nil {
		return c.Hooks.DB, nil
	}
	if c.DatabaseURL != "" {
		return sqldb.OpenPostgresWith(ctx, c.postgres())
	}
	db, err := sqldb.OpenSQLiteWith(ctx, sqldb.SQLiteConfig{Path: c.databaseFile(), Trace: c.Database.Trace})
	if err == nil && c.Database.Timeout > 0 {
		db.Timeout = c.Database.Timeout
	}
	return db, err
}

// traceStatements returns what traces the statements of the database.
func (c *Config) traceStatements() sqldb.Trace {
	if c.DatabaseURL != "" {
		return tracing.Statements(tracing.PostgreSQL)
	}
	return tracing.Statements(tracing.SQLite)
}

// postgres returns how to connect to PostgreSQL.
func (c *Config) postgres() sqldb.PostgresConfig {
	out := c.Database
	out.URL, out.DirectURL = c.DatabaseURL.Reveal(), c.DatabaseDirectURL.Reveal()
	return out
}

// errNoTables is returned for a database on which no service has started.
var errNoTables = errors.New("the database has no tables of a service: name its configuration with --config, or restore its backup first")

// openReadOnly opens the database of a service, which may run. It fails if there is none,
// or if this binary is newer than the service.
func openReadOnly(ctx context.Context, c *Config) (*sqldb.DB, error) {
	db, err := openAnyVersion(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.CheckMigrated(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openAnyVersion opens the database like openReadOnly, even if its schema is older.
func openAnyVersion(ctx context.Context, c *Config) (*sqldb.DB, error) {
	db, err := connectReadOnly(ctx, c)
	if err != nil {
		return nil, err
	}
	created, err := db.Created(ctx)
	if err == nil && !created {
		err = errNoTables
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connectReadOnly opens the database like openAnyVersion, even if it is empty.
func connectReadOnly(ctx context.Context, c *Config) (*sqldb.DB, error) {
	if c.DatabaseURL != "" {
		return sqldb.OpenPostgresReadOnly(ctx, c.postgres())
	}
	if _, err := os.Stat(c.databaseFile()); err != nil {
		return nil, fmt.Errorf("find the database of the service: %w; name its configuration with --config, or its folder with --data", err)
	}
	return sqldb.OpenSQLiteReadOnly(c.databaseFile())
}

// openExisting opens the database of a service that does not run, and creates none.
func openExisting(ctx context.Context, c *Config) (*sqldb.DB, error) {
	if err := c.FindDatabase(ctx); err != nil {
		return nil, err
	}
	return openDatabase(ctx, c)
}

// FindDatabase returns an error if no service has started on the database.
func (c *Config) FindDatabase(ctx context.Context) error {
	if c.Hooks.DB != nil {
		return nil
	}
	db, err := openAnyVersion(ctx, c) // it is migrated when it is used
	if err != nil {
		return err
	}
	return db.Close()
}

// openReadOnlyOrEmpty opens the database like openReadOnly. Before the first start of the
// service it returns an empty one in memory.
func openReadOnlyOrEmpty(ctx context.Context, c *Config) (*sqldb.DB, error) {
	db, err := openReadOnly(ctx, c)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoTables) {
		return sqldb.OpenMemory(ctx)
	}
	return db, err
}

// A sharedCache is a cache in another process.
type sharedCache struct {
	deed.Counter
	ping  func(context.Context) error
	close func() error
}

func openCache(c *Config, local deed.Counter) (sharedCache, error) {
	here := sharedCache{Counter: local, ping: func(context.Context) error { return nil }, close: func() error { return nil }} // memory is always available
	if c.Hooks.Cache != nil {
		here.Counter = c.Hooks.Cache
		return here, nil
	}
	if c.CacheURL == "" {
		return here, nil
	}
	r, err := redis.Open(c.CacheURL.Reveal(), redis.Timeout)
	if err != nil {
		return sharedCache{}, fmt.Errorf("cache.url: %w", err)
	}
	return sharedCache{Counter: r, ping: r.Ping, close: r.Close}, nil
}
