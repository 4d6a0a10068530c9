package opusdnstest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// A reply is the status and the body of a response; a nil body is an empty one.
type reply struct {
	status int
	body   any
	lost   bool // the connection is closed instead
}

// drop closes the connection without a reply.
func drop(w http.ResponseWriter) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close() // nobody is told anything any more
	}
}

func writeReply(w http.ResponseWriter, out reply, f Fault) {
	kind := "application/json"
	if out.status >= 400 {
		kind = "application/problem+json"
	}
	raw, err := json.Marshal(out.body, json.Deterministic(true))
	if err != nil {
		panic(err) // only with a type that has no JSON
	}
	if out.body == nil {
		w.WriteHeader(out.status)
		return
	}
	if f == Broken {
		raw = breakSchema(raw)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(out.status)
	_, _ = w.Write(raw) // the client may have left
}

// decode decodes a body that the table was compared with.
func decode(c call, into any) bool { return json.Unmarshal(c.body, into) == nil }

// newID returns an ID of a kind.
func newID(kind string) string {
	return kind + "_0" + strings.Map(func(r rune) rune {
		return rune("0123456789abcdefghjkmnpqrstvwxyz"[strings.IndexRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", r)])
	}, rand.Text()[:25])
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// refuse returns a problem document.
func refuse(status int, code, kind string) reply {
	return reply{status: status, body: map[string]any{"type": kind, "title": "Error", "status": status, "code": code, "detail": "the request is refused"}}
}

// invalid returns a validation error.
func invalid(why string) reply {
	return reply{status: http.StatusUnprocessableEntity, body: map[string]any{
		"type": "request-validation-error", "title": "Validation Error", "status": 422,
		"errors": []any{map[string]any{"loc": []any{"body"}, "msg": why, "type": "value_error"}},
	}}
}

func notFound() reply {
	return refuse(http.StatusNotFound, "ERROR_DOMAIN_NOT_FOUND", "domain-not-found")
}

// page returns a page of a list.
func page(c call, all []any) reply {
	number, size := 1, 10
	_, _ = fmt.Sscan(c.r.URL.Query().Get("page"), &number) // the defaults stay
	_, _ = fmt.Sscan(c.r.URL.Query().Get("page_size"), &size)
	from := min((number-1)*size, len(all))
	to := min(from+size, len(all))
	return reply{status: http.StatusOK, body: map[string]any{"results": all[from:to:to], "pagination": map[string]any{
		"total_pages": (len(all) + size - 1) / size, "total_items": len(all), "current_page": number, "page_size": size,
		"has_next_page": to < len(all), "has_previous_page": number > 1,
	}}}
}
