package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/event"
)

// events lists or streams what happened to the names and payments of the wallet.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	q, err := query(r, "after", "limit")
	if err != nil {
		return err
	}
	after, err := cursor("after", q.Get("after"))
	if err != nil {
		return err
	}
	if wantsEvents(r) {
		return s.streamEvents(w, r, who, after)
	}
	limit, _, err := page(q)
	if err != nil {
		return err
	}
	list, more, err := s.Events.List(r.Context(), who, after, limit)
	if err != nil {
		return err
	}
	out := api.Events{Events: make([]api.Event, 0, len(list)), Cursor: strconv.FormatInt(after, 10), HasMore: more}
	for _, e := range list {
		out.Events, out.Cursor = append(out.Events, fromEvent(e)), strconv.FormatInt(e.N, 10)
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

// streamEvents streams the events after the cursor, or after the one that a client which
// reconnects has seen. It ends with the session.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, who deed.Wallet, after int64) error {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		var err error
		if after, err = cursor("Last-Event-ID", id); err != nil {
			return err
		}
	}
	token, err := bearer(r)
	if err != nil {
		return err
	}
	return s.stream(w, r, func(ctx context.Context, send func(text string) error) {
		s.followEvents(ctx, who, after, func(text string) error {
			if _, err := s.SignIn.Authenticate(ctx, token); err != nil {
				return err // the session was ended, or the token has expired
			}
			return send(text)
		})
	})
}

// cursor parses the number of the last event that the caller has seen.
func cursor(field, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, deed.Invalid(field, "must be a cursor of an earlier answer")
	}
	return n, nil
}

// errDraining ends the streams of a node that stops; clients reconnect to another one.
var errDraining = errors.New("this node is stopping")

func (s *Server) followEvents(ctx context.Context, who deed.Wallet, after int64, send func(text string) error) {
	last := time.Now()
	_ = s.Events.Follow(ctx, who, after, func(e *event.Event) error { // the client reconnects with the last cursor
		switch {
		case s.draining.Load():
			return errDraining
		case e == nil && time.Since(last) < streamHeartbeat:
			return nil
		}
		last = time.Now()
		if e == nil {
			return send(": still there\n\n")
		}
		return send(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n", e.Type, e.N, encode(fromEvent(*e))))
	})
}

func fromEvent(e event.Event) api.Event {
	d := e.Data
	return api.Event{
		ID: e.ID, Type: string(e.Type), CreatedAt: e.At.UTC(), Cursor: strconv.FormatInt(e.N, 10),
		Data: api.EventData{
			Domain: string(d.Domain), Kind: string(d.Kind), JobID: d.JobID, PaymentID: d.PaymentID, RefundID: d.RefundID, Amount: d.Amount,
			TxHash: d.TxHash, ExpiresAt: d.ExpiresAt, DaysLeft: d.DaysLeft, Serial: d.Serial, NewOwner: string(d.NewOwner), WebhookID: d.WebhookID,
			MandateID: d.MandateID, Price: d.Price, Reason: d.Reason,
		},
	}
}
