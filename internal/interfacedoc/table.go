package interfacedoc

import "strings"

// A Field is one row of a field table (chapter 2), verbatim.
type Field struct {
	Name, Type string
	Required   string // "" if the table has no such column
}

// Fields returns the field table of a section such as "2.3".
func Fields(section string) []Field {
	var fields []Field
	for _, row := range rows("### " + section + " ") {
		fields = append(fields, Field{row["Field"], row["Type"], row["Required"]})
	}
	return fields
}

// rows returns the first table below a heading, each row by its column names.
func rows(heading string) []map[string]string {
	_, text, ok := strings.Cut(document, "\n"+heading)
	if !ok {
		panic("interfacedoc: no heading " + heading)
	}
	var columns []string
	var table []map[string]string
	for line := range strings.Lines(text) {
		cells, ok := cells(line)
		switch {
		case !ok && columns != nil:
			return table
		case !ok || strings.HasPrefix(line, "|---"):
		case columns == nil:
			columns = cells
		default:
			row := map[string]string{}
			for i, name := range columns {
				row[name] = cells[i]
			}
			table = append(table, row)
		}
	}
	return table
}

// cells splits "| a | b |" into its cells.
func cells(line string) ([]string, bool) {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil, false
	}
	all := strings.Split(strings.TrimSuffix(line, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all, true
}
