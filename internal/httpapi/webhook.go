package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/webhook"
)

func (s *Server) createWebhook(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	var in api.WebhookRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	made, err := s.Webhooks.Create(r.Context(), who, in.URL)
	if err != nil {
		return err
	}
	s.replySecret(w, http.StatusCreated, made)
	return nil
}

// replySecret replies with a webhook and its secret, which nobody may cache.
func (s *Server) replySecret(w http.ResponseWriter, status int, made webhook.Webhook) {
	out := fromWebhook(made)
	out.Secret = made.Secret.Reveal()
	w.Header().Set("Cache-Control", "no-store")
	s.reply(w, status, out)
}

func (s *Server) listWebhooks(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	list, err := s.Webhooks.List(r.Context(), who)
	if err != nil {
		return err
	}
	out := api.Webhooks{Webhooks: make([]api.Webhook, 0, len(list))}
	for _, one := range list {
		out.Webhooks = append(out.Webhooks, fromWebhook(one))
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) deleteWebhook(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	id, err := pathID(r, "webhookId")
	if err != nil {
		return err
	}
	if err := s.Webhooks.Delete(r.Context(), who, id); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Deleted{Deleted: true})
	return nil
}

func (s *Server) rotateWebhook(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	id, err := pathID(r, "webhookId")
	if err != nil {
		return err
	}
	rotated, err := s.Webhooks.Rotate(r.Context(), who, id)
	if err != nil {
		return err
	}
	s.replySecret(w, http.StatusOK, rotated)
	return nil
}

func (s *Server) testWebhook(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	id, err := pathID(r, "webhookId")
	if err != nil {
		return err
	}
	d, err := s.Webhooks.Test(r.Context(), who, id)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusAccepted, fromDelivery(d))
	return nil
}

func (s *Server) listDeliveries(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	id, err := pathID(r, "webhookId")
	if err != nil {
		return err
	}
	q, err := query(r, "limit", "offset")
	if err != nil {
		return err
	}
	limit, offset, err := page(q)
	if err != nil {
		return err
	}
	list, total, err := s.Webhooks.Page(r.Context(), who, id, limit, offset)
	if err != nil {
		return err
	}
	out := api.Deliveries{Deliveries: make([]api.Delivery, 0, len(list)), Total: total, Limit: limit, Offset: offset}
	for _, d := range list {
		out.Deliveries = append(out.Deliveries, fromDelivery(d))
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) replayDelivery(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	id, err := pathID(r, "webhookId")
	if err != nil {
		return err
	}
	eventID, err := pathID(r, "eventId")
	if err != nil {
		return err
	}
	d, err := s.Webhooks.Replay(r.Context(), who, id, eventID)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusAccepted, fromDelivery(d))
	return nil
}

// pathID returns an id of the path. One that cannot be an id is not there: a database
// cannot even be asked for some bytes.
func pathID(r *http.Request, name string) (string, error) {
	id := r.PathValue(name)
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return "", deed.Errorf(deed.CodeNotFound, "there is nothing with the id %s", deed.Quoted(id))
		}
	}
	return id, nil
}

func fromWebhook(w webhook.Webhook) api.Webhook {
	out := api.Webhook{ID: w.ID, URL: w.URL, Status: "active", CreatedAt: w.Created.UTC(), FailingSince: w.FailingSince, DisabledAt: w.Disabled}
	if !w.Disabled.IsZero() {
		out.Status = "disabled"
	}
	return out
}

func fromDelivery(d webhook.Delivery) api.Delivery {
	return api.Delivery{
		EventID: d.EventID, Type: d.Type, Status: string(d.State), Attempts: d.Attempts, CreatedAt: d.Created.UTC(),
		LastAttemptAt: d.LastTry, NextAttemptAt: d.NextTry, HTTPStatus: d.Status, Failure: string(d.LastFailure),
	}
}
