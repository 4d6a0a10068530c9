package sqldb

import (
	"context"
	"database/sql"

	"deed.example/deed"
)

// scanner is implemented by *sql.Row and *sql.Rows.
type scanner interface{ Scan(into ...any) error }

// querier and rowQuerier are implemented by *sql.DB and by transactions.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readAll returns what scan reads of each row of a query. After an error it returns the rows
// before.
func readAll[T any](ctx context.Context, from querier, scan func(row scanner) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		one, err := scan(rows)
		all = append(all, one)
		return err
	})
	return all, err
}

func scanText(row scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

func scanName(row scanner) (name deed.Name, err error) {
	err = row.Scan(&name)
	return name, err
}
