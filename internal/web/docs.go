package web

import "net/http"

// A library has the rendered docs.
type library struct{}

func (s *Server) renderDocs() (*library, error) { return &library{}, nil }

func (l *library) serve(w http.ResponseWriter, r *http.Request) error { return errNoPage(r.URL.Path) }
