package operatorapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"time"
)

// A Page is what the page shows. It has counts and our own wallets, and nothing about
// a customer.
type Page struct {
	At       time.Time
	Version  string
	Health   []Row // dependencies
	Open     []Row // payments, jobs and deliveries by state
	Money    []Row // balances and money in flight
	Backends []Row
	Signers  []Row
	Nodes    []Row
	Stopped  []Row
}

// A Row is a line of a table.
type Row struct {
	Name  string
	Value string
	Note  string
	Bad   bool
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"stamp": stamp}).Parse(pageText))

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	p, err := s.Overview(r.Context())
	if err != nil {
		s.Log.Error("cannot show the page of operators", "err", err)
		http.Error(w, "the database cannot be read: the log says why", http.StatusServiceUnavailable)
		return
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		s.Log.Error("cannot show the page of operators", "err", err)
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(out.Bytes()) // the caller is gone
}
