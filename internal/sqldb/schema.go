package sqldb

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Addition is a table or a column that a migration has added.
type Addition struct {
	Version       int64
	Table, Column string // no column for a table
	Rows          int64  // of the table, or with a value in the column
}

var (
	addsTable  = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)
	addsColumn = regexp.MustCompile(`(?m)^ALTER TABLE (\w+)\s+ADD COLUMN (\w+)`)
	removes    = regexp.MustCompile(`(?m)^(?:DROP TABLE|ALTER TABLE) (\w+)(?:;| RENAME TO| DROP COLUMN (\w+))`)
)

// Schema returns the version of the schema, and what was added after an earlier version:
// what a binary that knows only that version would lose.
func (db *DB) Schema(ctx context.Context, since int64) (version int64, added []Addition, err error) {
	if version, err = db.version(ctx); err != nil {
		return 0, nil, err
	}
	if added, err = additions(since); err != nil {
		return 0, nil, err
	}
	added = slices.DeleteFunc(added, func(a Addition) bool { return a.Version > version }) // by this binary, at its start
	for i := range added {
		a := &added[i]
		query := "SELECT count(*) FROM " + a.Table
		if a.Column != "" {
			query += fmt.Sprintf(" WHERE %[1]s IS NOT NULL AND CAST(%[1]s AS TEXT) NOT IN ('', '0')", a.Column)
		}
		if err := db.read.QueryRowContext(ctx, query).Scan(&a.Rows); err != nil {
			return 0, nil, fmt.Errorf("count %s: %w", a.Table, err)
		}
	}
	return version, added, nil
}

func (db *DB) version(ctx context.Context) (version int64, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version, err
}

// CheckMigrated returns an error if the schema is older than this binary, whose statements
// may name what is not there yet.
func (db *DB) CheckMigrated(ctx context.Context) error {
	has, err := db.version(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	knows, err := versionOf(slices.Max(files))
	if err == nil && has < knows {
		err = fmt.Errorf("the schema of the database is at version %d, and this binary is made for %d: use the binary of the service, or upgrade the service first", has, knows)
	}
	return err
}

// versionOf returns the number of a migration.
func versionOf(file string) (int64, error) {
	number, _, _ := strings.Cut(path.Base(file), "_")
	return strconv.ParseInt(number, 10, 64)
}

// additions returns what the migrations after a version add and later ones do not take
// away, the newest first.
func additions(since int64) (list []Addition, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(b, a) })
	gone := map[Addition]bool{} // tables that a later migration dropped or renamed, and columns that it dropped
	for _, file := range files {
		version, err := versionOf(file)
		if err != nil || version <= since {
			continue
		}
		raw, err := fs.ReadFile(migrations, file)
		if err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(string(raw), "-- +goose Down")
		for _, m := range removes.FindAllStringSubmatch(text, -1) {
			gone[Addition{Table: m[1], Column: m[2]}] = true
		}
		for _, m := range addsTable.FindAllStringSubmatch(text, -1) {
			if !gone[Addition{Table: m[1]}] {
				list = append(list, Addition{Version: version, Table: m[1]})
			}
		}
		for _, m := range addsColumn.FindAllStringSubmatch(text, -1) {
			if !gone[Addition{Table: m[1]}] && !gone[Addition{Table: m[1], Column: m[2]}] {
				list = append(list, Addition{Version: version, Table: m[1], Column: m[2]})
			}
		}
	}
	return list, nil
}
