package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// rowsPerStatement bounds the rows of one statement, and so the number of statements
// that are kept prepared: their text depends on the number of rows.
const rowsPerStatement = 20

// insertRows inserts rows into a table, given with its columns, with as few statements
// as it takes: each is a round trip to the database.
func insertRows(ctx context.Context, tx *Tx, into string, rows [][]any) error {
	for chunk := range slices.Chunk(rows, rowsPerStatement) {
		values, args := make([]string, len(chunk)), []any(nil)
		for i, row := range chunk {
			values[i] = "(" + places(len(args)+1, len(row)) + ")"
			args = append(args, row...)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO "+into+" VALUES "+strings.Join(values, ", "), args...); err != nil {
			return err
		}
	}
	return nil
}

// places returns n placeholders from $first on, with commas between them.
func places(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}
