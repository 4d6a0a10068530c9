package sqldb

import (
	"context"
	"fmt"
	"time"
)

// A dueQuery reads the IDs of rows whose time has come, the earliest first.
type dueQuery struct {
	id, from string // the column, and the tables
	at       string // the column with the time, in Unix seconds; $1 is now
	where    string // a further condition, or empty; its arguments begin with $3
	order    string // empty for the time
}

// A share is the part of all due rows that one of several nodes advances: those whose
// hash has this remainder. The zero share is all of them.
type share struct{ rank, nodes int }

// lateAfter is for how long the rows of another node are left to it. Each node polls
// several times a second, so that node is down or has too much to do.
const lateAfter = 3 * time.Second

// due returns the rows of this node that are due, and then, up to the limit, those of
// other nodes that are late.
func due(ctx context.Context, db *DB, q dueQuery, now time.Time, limit int, more ...any) ([]string, error) {
	mine := db.share.Load()
	if ctx.Value(undivided{}) != nil {
		mine = nil
	}
	return db.readColumn(ctx, q.sql(mine), append([]any{now.Unix(), limit}, more...)...)
}

// undivided is the key of a context whose due rows are those of all nodes.
type undivided struct{}

// Undivided returns a context for who advances all due rows now, whichever node they are
// left to.
func Undivided(ctx context.Context) context.Context {
	return context.WithValue(ctx, undivided{}, true)
}

// sql returns the statement. PostgreSQL does not begin with its second part when the
// first has found enough.
func (q dueQuery) sql(s *share) string {
	if s == nil || s.nodes <= 1 {
		return q.part("$1", "")
	}
	hash := fmt.Sprintf("(hashtext(%s)::bigint + 2147483648) %% %d", q.id, s.nodes)
	return fmt.Sprintf("(%s) UNION ALL (%s) LIMIT $2",
		q.part("$1", fmt.Sprintf(" AND %s = %d", hash, s.rank)),
		q.part(fmt.Sprintf("$1::bigint - %d", int(lateAfter.Seconds())), fmt.Sprintf(" AND %s <> %d", hash, s.rank)))
}

func (q dueQuery) part(until, share string) string {
	where, order := "", q.at
	if q.where != "" {
		where = " AND " + q.where
	}
	if q.order != "" {
		order = q.order
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s <= %s%s%s ORDER BY %s LIMIT $2", q.id, q.from, q.at, until, where, share, order)
}

// readColumn returns the only column of a query, which is text.
func (db *DB) readColumn(ctx context.Context, query string, args ...any) (column []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	return readAll(ctx, db.read, scanText, query, args...)
}
