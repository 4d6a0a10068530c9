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
	if err := db.read.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version); err != nil {
		return 0, nil, err
	}
	if added, err = additions(since); err != nil {
		return 0, nil, err
	}
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
		number, _, _ := strings.Cut(path.Base(file), "_")
		version, err := strconv.ParseInt(number, 10, 64)
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
