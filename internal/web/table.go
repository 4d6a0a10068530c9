package web

import (
	"regexp"

	extensionast "github.com/yuin/goldmark/extension/ast"
)

// labelCells gives every cell of a table the heading of its column, which phones show
// beside it, because there each row is a block.
func labelCells(table *extensionast.Table, raw []byte) {
	var heads []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		_, isHead := row.(*extensionast.TableHeader)
		column := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			switch {
			case isHead:
				heads = append(heads, plainText(cell, raw))
			case column < len(heads) && heads[column] != "" && cell.HasChildren():
				cell.SetAttributeString("data-label", []byte(heads[column]))
			}
			column++
		}
	}
}

var (
	cell     = regexp.MustCompile(`<td[^>]*>.*?</td>`)
	cellText = regexp.MustCompile(`>[^<]+`)
	longWord = regexp.MustCompile(`[^\s>]{16,}`)
	joint    = regexp.MustCompile(`([._/=,-])(\w)|([a-z0-9])([A-Z])`)
)

// breakWords lets a browser break the long words in the cells of tables, such as
// DEED_DATABASE_URL, so that the columns beside them have room.
func breakWords(html []byte) []byte {
	return cell.ReplaceAllFunc(html, func(cell []byte) []byte {
		return cellText.ReplaceAllFunc(cell, func(text []byte) []byte {
			return longWord.ReplaceAllFunc(text, func(word []byte) []byte {
				return joint.ReplaceAll(word, []byte("$1$3<wbr>$2$4"))
			})
		})
	})
}
