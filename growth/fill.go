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

// fill makes the tables, fills them and gathers their statistics.
func (f filler) fill(ctx context.Context) (err error) {
	db, err := sqldb.OpenPostgres(ctx, f.url)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, setting := range []string{"SET synchronous_commit = off", "SET session_replication_role = replica", "SET maintenance_work_mem = '512MB'"} { // no foreign keys are checked
		if _, err := conn.Exec(ctx, setting); err != nil {
			return err
		}
	}
	indexes, err := dropIndexes(ctx, conn)
	if err != nil {
		return err
	}
	if err := f.fillTables(ctx, conn); err != nil {
		return err
	}
	secrets, err := keyfile.OpenZoneSecrets(f.zoneSecretFile())
	if err != nil {
		return err
	}
	if err := f.fillZones(ctx, conn, secrets[0]); err != nil {
		return err
	}
	progress("the tables are filled; %d indexes are made", len(indexes))
	for _, statement := range append(indexes, "VACUUM ANALYZE") {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
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
	for statement := range strings.SplitSeq(fillSQL, "\n\n") {
		if _, err := conn.Exec(ctx, values.Replace(statement)); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(statement), err)
		}
	}
	return nil
}

func sqlText(s string) string { return "'" + s + "'" }
