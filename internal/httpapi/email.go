package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/email"
)

func (s *Server) setEmail(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	var in api.EmailRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	made, err := s.Emails.Subscribe(r.Context(), who, in.Address)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusAccepted, fromEmail(made))
	return nil
}

func (s *Server) confirmEmail(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	var in api.EmailConfirmation
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	is, err := s.Emails.Confirm(r.Context(), who, in.Code)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, fromEmail(is))
	return nil
}

func (s *Server) showEmail(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	is, err := s.Emails.Subscription(r.Context(), who)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, fromEmail(is))
	return nil
}

func (s *Server) deleteEmail(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	if err := s.Emails.Delete(r.Context(), who); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Deleted{Deleted: true})
	return nil
}

// Programs follow the links in messages to look at them, so GET only asks, and the
// answer is the same for every token.
const (
	pageHead         = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>No more messages</title>`
	unsubscribePage  = pageHead + `<main><h1>No more messages?</h1><form method="post"><button>Send me no more messages</button></form></main></html>` + "\n"
	unsubscribedPage = pageHead + `<main><h1>You get no more messages.</h1></main></html>` + "\n"
)

func (s *Server) askUnsubscribe(w http.ResponseWriter, _ *http.Request) error {
	replyPage(w, unsubscribePage)
	return nil
}

// unsubscribe ends the notices to whoever has the token of a message (RFC 8058). The
// body says nothing that is needed.
func (s *Server) unsubscribe(w http.ResponseWriter, r *http.Request) error {
	if err := s.Emails.Unsubscribe(r.Context(), r.PathValue("token")); err != nil {
		return err
	}
	replyPage(w, unsubscribedPage)
	return nil
}

func replyPage(w http.ResponseWriter, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the address is a secret
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
	_, _ = w.Write([]byte(text)) // the client has gone
}

func fromEmail(is email.Subscription) api.Email {
	return api.Email{Address: is.Address.Masked(), Status: string(is.State), Failure: is.Failure, CreatedAt: is.Created.UTC(), ConfirmedAt: is.Confirmed}
}
