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
	cell := lipgloss.NewStyle().PaddingRight(columnGap)
	head, key := cell.Bold(true), cell.Faint(true)
	t := table.New().Border(lipgloss.HiddenBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			switch {
			case row == table.HeaderRow:
				return head
			case len(l.heads) == 0 && col == 0:
				return key
			}
			return cell
		}).Rows(fit(l, width)...)
	if len(l.heads) > 0 {
		t = t.Headers(l.heads...)
	}
	_, err := lipgloss.Fprintln(w, t.Render())
	return err
}

// fit returns the rows of a list with line breaks, so that the table has at most a
// width. Only the widest columns are broken: an amount, a date or a status stays whole.
func fit(l list, width int) [][]string {
	widths := columnWidths(l)
	for width > 0 {
		total := columnGap * len(widths)
		for _, w := range widths {
			total += w
		}
		widest := slices.Index(widths, slices.Max(widths))
		if total <= width || widths[widest] <= minColumn {
			break
		}
		widths[widest]--
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

// minColumn is a width below which no column is broken.
const minColumn = 10

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
