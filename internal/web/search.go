package web

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"unicode/utf8"
)

// A hit is a section of the docs that has all words of a search.
type hit struct {
	Link, Page, Title, Excerpt string
}

const maxHits = 30

// serveIndex sends the first page of the docs, or the results of ?q=.
func (l *library) serveIndex(w http.ResponseWriter, r *http.Request) error {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > 200 {
		query = strings.ToValidUTF8(query[:200], "")
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "index.html", struct {
		Query  string
		Hits   []hit
		Groups []group
	}{query, l.find(query), l.groups}); err != nil {
		return err
	}
	body, err := l.frame("Docs", nil, template.HTML(b.String()))
	if err != nil {
		return err
	}
	send(w, r, http.StatusOK, asset{raw: body})
	return nil
}

// find returns the sections that have every word, those with one in the title
// first.
func (l *library) find(query string) []hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type match struct {
		page *doc
		section
	}
	var best, rest []match
	for _, d := range l.order {
		for _, s := range d.sections {
			switch {
			case !hasAll(s.lower, words):
			case strings.Contains(strings.ToLower(s.title), words[0]):
				best = append(best, match{d, s})
			default:
				rest = append(rest, match{d, s})
			}
		}
	}
	all := append(best, rest...)
	hits := make([]hit, min(len(all), maxHits)) // only these get an excerpt, which costs most
	for i := range hits {
		m := all[i]
		hits[i] = hit{Link: "/docs/" + m.page.Path, Page: m.page.Title, Title: m.title, Excerpt: excerpt(m.text, words[0])}
		if m.id != "" {
			hits[i].Link += "#" + m.id
		}
	}
	return hits
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// excerpt returns the text around a word.
func excerpt(text, word string) string {
	text = strings.Join(strings.Fields(text), " ")
	at := max(0, strings.Index(strings.ToLower(text), word))
	from, to := max(0, min(at, len(text))-80), min(len(text), at+160)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	out := text[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}
