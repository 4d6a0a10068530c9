package httpapi

import (
	"net/http"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
)

func (s *Server) createCalendar(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	token, created, err := s.Feeds.Create(r.Context(), who)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	s.reply(w, http.StatusCreated, api.Calendar{URL: s.PublicURL + "/calendar/" + token + ".ics", CreatedAt: created.UTC()})
	return nil
}

func (s *Server) showCalendar(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	created, err := s.Feeds.Created(r.Context(), who)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Calendar{CreatedAt: created.UTC()})
	return nil
}

func (s *Server) deleteCalendar(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	if err := s.Feeds.Revoke(r.Context(), who); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Deleted{Deleted: true})
	return nil
}

// calendar serves the feed with the token in its address.
func (s *Server) calendar(w http.ResponseWriter, r *http.Request) error {
	token, ok := strings.CutSuffix(r.PathValue("file"), ".ics")
	if !ok {
		return deed.Errorf(deed.CodeNotFound, "there is no such calendar feed")
	}
	text, err := s.Feeds.Calendar(r.Context(), token)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("Referrer-Policy", "no-referrer") // the address is a secret
	_, _ = w.Write(text)                    // the client has gone
	return nil
}
