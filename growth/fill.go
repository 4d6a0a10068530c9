package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"deed.example/deed/client"
	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/sqldb"
)

const (
	smallest   = 10_000 // names; the large wallet must fit
	largeOwner = 5_000  // names of the large wallet
	smallOwner = 20     // names of the small wallet, and of each other one
)

// The keys of the wallets that are measured. The other owners have none.
const (
	largeKey = "00000000000000000000000000000000000000000000000000000000000a11ce"
	smallKey = "0000000000000000000000000000000000000000000000000000000000000b0b"
)

// fillSQL fills every table but those of zones. Each statement is one after which
// comes an empty line.
//
//go:embed fill.sql
var fillSQL string

// A filler fills a database with names.
type filler struct {
	names int
	url   string // of the database
	dir   string // of the data folders of the nodes
	chain *sharedChain
}

func (f filler) zoneSecretFile() string { return filepath.Join(f.dir, "dns.key") }

// domain returns the name with a number from 0 on. The first belong to the large
// wallet, the next to the small one.
func domain(i int) string { return fmt.Sprintf("n%07d.com", i) }

// fill makes the tables, fills them and gathers their statistics. Zones are signed while
// the other tables are filled.
func (f filler) fill(ctx context.Context) (err error) {
	db, err := sqldb.OpenPostgres(ctx, f.url)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	secrets, err := keyfile.OpenZoneSecrets(f.zoneSecretFile())
	if err != nil {
		return err
	}
	var conns [2]*pgx.Conn
	for i := range conns {
		if conns[i], err = f.connect(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conns[i].Close(ctx)) }()
	}
	indexes, err := dropIndexes(ctx, conns[0])
	if err != nil {
		return err
	}
	if err := both(ctx,
		func(ctx context.Context) error { return f.fillTables(ctx, conns[0]) },
		func(ctx context.Context) error { return f.fillZones(ctx, conns[1], secrets[0]) }); err != nil {
		return err
	}
	progress("the tables are filled; %d indexes are made", len(indexes))
	half := len(indexes) / 2
	if err := both(ctx,
		func(ctx context.Context) error { return execAll(ctx, conns[0], indexes[:half]) },
		func(ctx context.Context) error { return execAll(ctx, conns[1], indexes[half:]) }); err != nil {
		return err
	}
	return execAll(ctx, conns[0], []string{"VACUUM ANALYZE"})
}

// both runs two functions at the same time. The first error ends the other.
func both(ctx context.Context, a, b func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a(ctx) })
	group.Go(func() error { return b(ctx) })
	return group.Wait()
}

// connect returns a connection for filling tables, which checks no foreign keys.
func (f filler) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return nil, err
	}
	settings := []string{"SET synchronous_commit = off", "SET session_replication_role = replica", "SET maintenance_work_mem = '512MB'"}
	if err := execAll(ctx, conn, settings); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

func execAll(ctx context.Context, conn *pgx.Conn, statements []string) error {
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(s), err)
		}
	}
	return nil
}

// dropIndexes drops the indexes that are no constraints, which are made faster when the
// tables are full, and returns the statements that make them again.
func dropIndexes(ctx context.Context, conn *pgx.Conn) (create []string, err error) {
	found, err := conn.Query(ctx, `
		SELECT i.indexname, i.indexdef FROM pg_indexes i
		 WHERE i.schemaname = current_schema() AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)`)
	if err != nil {
		return nil, err
	}
	var name, definition string
	var drop []string
	_, err = pgx.ForEachRow(found, []any{&name, &definition}, func() error {
		drop, create = append(drop, name), append(create, definition)
		return nil
	})
	if err == nil {
		_, err = conn.Exec(ctx, "DROP INDEX "+strings.Join(drop, ", "))
	}
	return create, err
}

func (f filler) fillTables(ctx context.Context, conn *pgx.Conn) error {
	large, err := client.ParseKey(largeKey)
	if err != nil {
		return err
	}
	small, err := client.ParseKey(smallKey)
	if err != nil {
		return err
	}
	values := strings.NewReplacer(
		":names", fmt.Sprint(f.names), ":large_names", fmt.Sprint(largeOwner), ":small_names", fmt.Sprint(smallOwner),
		":large", sqlText(strings.ToLower(large.Address().Hex())), ":small", sqlText(strings.ToLower(small.Address().Hex())),
		":now", fmt.Sprint(time.Now().Unix()))
	return execAll(ctx, conn, strings.Split(values.Replace(fillSQL), "\n\n"))
}

func sqlText(s string) string { return "'" + s + "'" }
