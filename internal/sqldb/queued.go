package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A queued statement writes, and nobody reads its result.
type queued struct {
	name  string // of what it returns, if it is joined with others
	query string
	args  []any
	none  error // what the transaction fails with if no row is changed; nil: that is allowed
}

// queue queues a statement. Until the next one that is not queued, statements must be
// independent: none may read or change a row that another writes.
func (tx *Tx) queue(query string, args ...any) {
	tx.require(nil, query, args...)
}

// require queues a statement that must change a row. Otherwise the transaction fails
// with none.
func (tx *Tx) require(none error, query string, args ...any) {
	tx.queued = append(tx.queued, tx.newQueued(none, query, args))
}

// requireFirst is require for the row that others lock first. It is the first that an
// atOnce changes, so that nobody waits for a row while others wait for this one.
func (tx *Tx) requireFirst(none error, query string, args ...any) {
	tx.queued = slices.Insert(tx.queued, 0, tx.newQueued(none, query, args))
}

func (tx *Tx) newQueued(none error, query string, args []any) queued {
	q := queued{fmt.Sprint("q", tx.names), query, args, none}
	tx.names++
	return q
}

// returned is what a statement that is queued after the next one reads the rows from that
// the next one changes: its table, or, where both are parts of one statement, what the
// next one returns.
func (tx *Tx) returned(table string) string {
	if tx.prepared != nil {
		return table
	}
	return fmt.Sprint("q", tx.names)
}

// flush executes the queued statements. On PostgreSQL, those up to the next required one
// are executed as one statement; if that changes no row, nothing after it is executed.
func (tx *Tx) flush(ctx context.Context) error {
	list := tx.queued
	tx.queued, tx.names = nil, 0 // so that the same statements have the same names
	if len(list) > 0 && tx.reads != nil {
		return errNeedsTx // it reads after it has written
	}
	for len(list) > 0 {
		n := 1
		for tx.prepared == nil && list[0].none == nil && n < len(list) && list[n].none == nil {
			n++
		}
		query, args := list[0].query, list[0].args
		if n > 1 {
			query, args = join(list[:n])
		}
		changed, err := rowsAffected(tx.exec(ctx, query, args...))
		if err == nil && !changed {
			err = list[0].none
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// sendAtOnce executes the statements of an atOnce as one.
func (tx *Tx) sendAtOnce(ctx context.Context) error {
	list := tx.queued
	switch {
	case len(list) == 0:
		return nil
	case len(list) > 1:
		query, args := join(list)
		_, err := tx.pool.ExecContext(ctx, query, args...)
		return err
	}
	changed, err := rowsAffected(tx.pool.ExecContext(ctx, list[0].query, list[0].args...))
	if err == nil && !changed && list[0].none != nil {
		err = errNeedsTx
	}
	return err
}

// join returns one statement of PostgreSQL for several, and its arguments. Its result is
// one row with the number of rows that each of them has changed. They are executed in
// their order, because the numbers are asked for in it. When a required one changes no
// row, the whole statement fails with a division by zero.
func join(list []queued) (query string, args []any) {
	var with, numbers strings.Builder
	for i, q := range list {
		text, number := q.query, "count(*)"
		if !strings.Contains(text, "RETURNING") {
			text += " RETURNING 1"
		}
		if q.none != nil {
			number = "count(*) / count(*)"
		}
		if i > 0 {
			with.WriteString(", ")
			numbers.WriteString(", ")
		}
		fmt.Fprintf(&with, "%s AS (", q.name)
		renumber(&with, text, len(args))
		with.WriteString(")")
		fmt.Fprintf(&numbers, "(SELECT %s FROM %s)", number, q.name)
		args = append(args, q.args...)
	}
	return "WITH " + with.String() + " SELECT " + numbers.String(), args
}

// renumber writes a statement whose placeholders start after those of others.
func renumber(to *strings.Builder, query string, after int) {
	for {
		before, rest, found := strings.Cut(query, "$")
		to.WriteString(before)
		if !found {
			return
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, _ := strconv.Atoi(rest[:digits])
		fmt.Fprintf(to, "$%d", n+after)
		query = rest[digits:]
	}
}
