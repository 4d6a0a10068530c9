package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"
)

// A list is data in rows. The heads are printed on terminals only.
type list struct {
	heads []string
	rows  [][]string
	empty string // what to say if there are no rows; optional
}

func (l *list) add(cells ...string) { l.rows = append(l.rows, cells) }

// show prints v, the object of the service, as JSON, or l as a table.
func (s *session) show(v any, l list) error {
	if s.json {
		text, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", text)
		return err
	}
	for _, row := range l.rows {
		for i := range row {
			row[i] = clean(row[i])
		}
	}
	if len(l.rows) == 0 && len(l.heads) > 0 {
		fmt.Fprintln(s.errs, cmp.Or(l.empty, "nothing to list")) // stdout stays empty for programs
	}
	if out, people := terminal(s.out); people {
		width, _, err := term.GetSize(int(out.Fd()))
		if err != nil {
			width = 0
		}
		return drawTable(s.out, l, width)
	}
	for _, row := range l.rows {
		if _, err := fmt.Fprintln(s.out, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// Clean returns untrusted text as it may be printed on a terminal, on one line.
func Clean(text string) string { return clean(text) }

// clean removes characters that could move the cursor or break a column. Records
// and messages are untrusted text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, text)
}

// day formats a time for display; the zero time is "-".
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func hashOf(p *string) string {
	if p == nil {
		return "-"
	}
	return *p
}
