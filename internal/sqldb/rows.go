package sqldb

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxRows bounds the rows of one statement on SQLite, and so the number of statements
// that are kept prepared: their text depends on the number of rows.
const maxRows = 20

// queueRows queues statements that insert rows into a table with these columns.
func (tx *Tx) queueRows(table string, columns []string, rows [][]any) {
	for chunk := range tx.chunks(rows) {
		values, args := tx.rows(1, columns, chunk)
		names := strings.Join(columns, ", ")
		tx.queue("INSERT INTO "+table+" ("+names+") SELECT "+names+" FROM "+values, args...)
	}
}

// chunks splits rows into as many as one statement takes.
func (tx *Tx) chunks(rows [][]any) func(func([][]any) bool) {
	if tx.prepared == nil {
		return slices.Chunk(rows, 1000)
	}
	return slices.Chunk(rows, maxRows)
}

// rows returns an expression for FROM that has the rows as a table named "given", and its
// arguments, with placeholders from $first on. In each column all values are strings or
// all are integers. On PostgreSQL each column is an array, so that the text of a
// statement does not depend on the number of rows: it is prepared once.
func (tx *Tx) rows(first int, columns []string, rows [][]any) (table string, args []any) {
	if tx.prepared == nil {
		return arrays(first, columns, rows)
	}
	return values(first, columns, rows)
}

func arrays(first int, columns []string, rows [][]any) (table string, args []any) {
	arrays := make([]string, len(columns))
	for i := range columns {
		var texts []string
		var numbers []int64
		for _, row := range rows {
			switch v := reflect.ValueOf(row[i]); {
			case v.Kind() == reflect.String:
				texts = append(texts, v.String())
			case v.CanUint():
				numbers = append(numbers, int64(v.Uint()))
			default:
				numbers = append(numbers, v.Int())
			}
		}
		if texts != nil {
			arrays[i], args = fmt.Sprintf("$%d::text[]", first+i), append(args, texts)
		} else {
			arrays[i], args = fmt.Sprintf("$%d::bigint[]", first+i), append(args, numbers)
		}
	}
	return fmt.Sprintf("unnest(%s) AS given (%s)", strings.Join(arrays, ", "), strings.Join(columns, ", ")), args
}

func values(first int, columns []string, rows [][]any) (table string, args []any) {
	lines, names := make([]string, len(rows)), make([]string, len(columns))
	for i, row := range rows {
		lines[i] = "(" + places(first+len(args), len(row)) + ")"
		args = append(args, row...)
	}
	for i, name := range columns {
		names[i] = fmt.Sprintf("column%d AS %s", i+1, name)
	}
	return fmt.Sprintf("(SELECT %s FROM (VALUES %s)) AS given", strings.Join(names, ", "), strings.Join(lines, ", ")), args
}

// places returns n placeholders from $first on, with commas between them.
func places(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}

// among returns the condition that the column is an element of the array at a placeholder.
// PostgreSQL finds the elements by an index; of a query for them it would not know that
// they are few.
func (db *DB) among(column, place string) string {
	if db.dialect == postgres {
		return column + " = ANY(" + place + "::text[])"
	}
	return column + " IN (SELECT value FROM json_each(" + place + "))"
}

// amongResults returns the condition that the column is among the results of a query with
// a limit. PostgreSQL expects as many results as the limit allows, and would rather read the
// whole table than look up each of them, although there are few nearly always.
func (db *DB) amongResults(column, query string) string {
	if db.dialect == postgres {
		return column + " = ANY(ARRAY(" + query + "))"
	}
	return column + " IN (" + query + ")"
}

// array returns the argument of among.
func array[T ~string](db *DB, list []T) any {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = string(s)
	}
	if db.dialect == postgres {
		return texts
	}
	text, err := json.Marshal(texts)
	if err != nil {
		panic(err) // invalid UTF-8 is replaced, and there is nothing else that could fail
	}
	return string(text)
}
