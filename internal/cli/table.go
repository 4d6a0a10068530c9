package cli

import (
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// columnGap is the space between two columns.
const columnGap = 2

// drawTable prints a list as a table, in colour unless NO_COLOR is set. If it is
// wider than the terminal, the cells of its widest columns wrap; a width of 0 means
// that it is unknown.
func drawTable(w io.Writer, l list, width int) error {
	if len(l.rows) == 0 {
		return nil
	}
	columns := len(columnWidths(l))
	t := table.New().Border(lipgloss.HiddenBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			style := lipgloss.NewStyle()
			if col < columns-1 {
				style = style.PaddingRight(columnGap)
			}
			switch {
			case row == table.HeaderRow:
				return style.Bold(true)
			case len(l.heads) == 0 && col == 0:
				return style.Faint(true)
			}
			return style
		}).Rows(fit(l, width)...)
	if len(l.heads) > 0 {
		t = t.Headers(l.heads...)
	}
	_, err := lipgloss.Fprintln(w, t.Render())
	return err
}

// fit returns the rows of a list with line breaks, so that the table has at most a
// width. Long cells are broken first: an amount, a date or a status stays whole, unless
// the terminal is too narrow for that.
func fit(l list, width int) [][]string {
	widths := columnWidths(l)
	full := slices.Clone(widths)
	head := func(i int) int {
		if i < len(l.heads) {
			return lipgloss.Width(l.heads[i])
		}
		return 0
	}
	if width > 0 {
		shrink(widths, width, func(i int) int {
			if full[i] <= wholeColumn {
				return full[i]
			}
			return max(minColumn, head(i))
		})
		shrink(widths, width, func(i int) int { return max(minNarrow, head(i)) })
	}
	rows := make([][]string, len(l.rows))
	for i, row := range l.rows {
		rows[i] = make([]string, len(row))
		for j, text := range row {
			rows[i][j] = breakLines(text, widths[j])
		}
	}
	return rows
}

const (
	wholeColumn = 20 // columns up to this width, such as a time, are broken last
	minColumn   = 10 // the width that other columns are broken to before those
	minNarrow   = 8  // the width that no column is broken below
)

// shrink narrows the widest columns until the table has at most a width. No column
// becomes narrower than its floor.
func shrink(widths []int, width int, floor func(column int) int) {
	for {
		total, widest := columnGap*(len(widths)-1), -1
		for i, w := range widths {
			total += w
			if w > floor(i) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if total <= width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

func columnWidths(l list) []int {
	var widths []int
	for _, row := range append([][]string{l.heads}, l.rows...) {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], lipgloss.Width(text))
		}
	}
	return widths
}

// breakLines breaks a text into lines of a width: at blanks, and within words that
// are longer.
func breakLines(text string, width int) string {
	if lipgloss.Width(text) <= width {
		return text
	}
	return strings.TrimRight(lipgloss.Wrap(text, width, " "), " ")
}
