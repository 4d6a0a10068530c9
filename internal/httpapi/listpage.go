package httpapi

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/account"
)

// page reads limit and offset; they default to 50 and 0.
func page(q url.Values) (limit, offset int, err error) {
	limit = 50
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 100 {
			return 0, 0, deed.Invalid("limit", "must be a number from 1 to 100")
		}
	}
	if text := q.Get("offset"); text != "" {
		if offset, err = strconv.Atoi(text); err != nil || offset < 0 {
			return 0, 0, deed.Invalid("offset", "must be a number, 0 or above")
		}
	}
	return limit, offset, nil
}

// listPage reads which part of a list is wanted: by limit and offset, or by limit and
// cursor. An empty cursor is the beginning.
func listPage(q url.Values, c listCursor) (p account.Page, err error) {
	if p.Limit, p.Offset, err = page(q); err != nil || !q.Has("cursor") {
		return p, err
	}
	if q.Has("offset") {
		return p, deed.Invalid("cursor", "cannot be combined with offset")
	}
	p.After = &account.Position{}
	if text := q.Get("cursor"); text != "" {
		if *p.After, err = c.read(text); err != nil {
			return p, deed.Invalid("cursor", "must be the value of next on an earlier page")
		}
	}
	return p, nil
}

// pageFields says which page was read.
func pageFields(p account.Page, total int) api.PageFields {
	if p.After != nil {
		return api.PageFields{Limit: p.Limit, Total: api.NoCount, Offset: api.NoCount}
	}
	return api.PageFields{Limit: p.Limit, Total: api.Count(total), Offset: api.Count(p.Offset)}
}

// A listCursor writes positions as text that callers need not understand.
type listCursor struct {
	fields func(account.Position) []string
	parse  func(fields []string) (account.Position, error)
}

func (c listCursor) write(p account.Position) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(c.fields(p), " ")))
}

func (c listCursor) read(text string) (p account.Position, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return p, err
	}
	return c.parse(strings.Split(string(raw), " "))
}

var errCursor = deed.Errorf(deed.CodeValidation, "not a cursor of this list")

var nameCursor = listCursor{
	fields: func(p account.Position) []string { return []string{"names", string(p.Name)} },
	parse: func(fields []string) (p account.Position, err error) {
		if len(fields) != 2 || fields[0] != "names" {
			return p, errCursor
		}
		p.Name, err = deed.ParseName(fields[1])
		return p, err
	},
}

var transactionCursor = listCursor{
	fields: func(p account.Position) []string {
		return []string{"transactions", strconv.FormatInt(p.At.Unix(), 10), p.Payment, strconv.FormatBool(p.Refund)}
	},
	parse: func(fields []string) (p account.Position, err error) {
		if len(fields) != 4 || fields[0] != "transactions" || !isWord(fields[2]) {
			return p, errCursor
		}
		at, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return p, err
		}
		p.Refund, err = strconv.ParseBool(fields[3])
		p.At, p.Payment = time.Unix(at, 0), fields[2]
		return p, err
	},
}

// isWord reports whether text can be the identifier of a payment. A database does not
// take every text.
func isWord(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
