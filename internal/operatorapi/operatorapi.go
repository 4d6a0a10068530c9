// Package operatorapi is what operators reach on their private listener: a page with
// what is under way, which only shows counts and needs no token, and the calls behind
// `deed admin`, which need the token of a file that only operators can read.
//
// The listener must not be public, and the token keeps other users of the machine, and
// pages in the browser of an operator, from acting.
package operatorapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
)

// A Request asks for an act, or for what is known.
type Request struct {
	Action   string   `json:"action"`
	Args     []string `json:"args"`
	Operator string   `json:"operator,omitzero"`
	Reason   string   `json:"reason,omitzero"`
	DryRun   bool     `json:"dryRun,omitzero"`
}

// A Response is what was done or found, as lines with tab-separated columns.
type Response struct {
	Lines []string `json:"lines,omitzero"`
	Error string   `json:"error,omitzero"`
}

// Server serves operators. Fill every field.
type Server struct {
	Operator *operator.Service
	Token    deed.Secret
	Float    func(ctx context.Context) ([]string, error) // balances of wallets and registrars
	Overview func(ctx context.Context) (Page, error)
	Log      *slog.Logger
}

// maxBody limits a request.
const maxBody = 16 << 10

// Handler returns the routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("POST /operator", s.call)
	return mux
}

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	given, want := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+s.Token.Reveal()))
	if s.Token == "" || subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		s.reply(w, http.StatusUnauthorized, Response{Error: "the token is not the one of this node: it is in operator.token, in its data folder"})
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var in Request
	if err == nil {
		err = json.Unmarshal(raw, &in, json.RejectUnknownMembers(true))
	}
	if err != nil {
		s.reply(w, http.StatusBadRequest, Response{Error: "the request is malformed: " + err.Error()})
		return
	}
	lines, err := s.do(r.Context(), in)
	if err != nil {
		status, message := http.StatusInternalServerError, err.Error()
		if e, ok := errors.AsType[*deed.Error](err); ok {
			status, message = http.StatusBadRequest, e.Message
			if e.Code == deed.CodeNotFound {
				status = http.StatusNotFound
			}
		}
		s.Log.Warn("operator's request failed", "action", in.Action, "operator", in.Operator, "err", err)
		s.reply(w, status, Response{Error: message})
		return
	}
	if !in.DryRun && in.Reason != "" {
		s.Log.Info("operator.action", "action", in.Action, "args", in.Args, "operator", in.Operator, "reason", in.Reason)
	}
	s.reply(w, http.StatusOK, Response{Lines: lines})
}

func (s *Server) reply(w http.ResponseWriter, status int, out Response) {
	raw, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true)) // what registries say may not be UTF-8
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the caller is gone
}

// acts are the calls that change something, with the number of their arguments.
var acts = map[string]struct {
	args int
	do   func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error)
}{
	"retry": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Retry(ctx, a, args[0])
	}},
	"refund": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Refund(ctx, a, args[0])
	}},
	"refund-dust": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.RefundDust(ctx, a, args[0])
	}},
	"release": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.ReleaseOrder(ctx, a, args[0])
	}},
	"suspend": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Suspend(ctx, a, args[0], true)
	}},
	"unsuspend": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Suspend(ctx, a, args[0], false)
	}},
	"block": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Block(ctx, a, args[0], true)
	}},
	"unblock": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Block(ctx, a, args[0], false)
	}},
	"stop": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Stop(ctx, a, args[0], true)
	}},
	"start": {1, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.Stop(ctx, a, args[0], false)
	}},
	"replay": {2, func(ctx context.Context, s *operator.Service, a operator.Act, args []string) (string, error) {
		return s.ReplayWebhook(ctx, a, args[0], args[1])
	}},
}

func (s *Server) do(ctx context.Context, in Request) ([]string, error) {
	if act, ok := acts[in.Action]; ok {
		if len(in.Args) != act.args {
			return nil, deed.Errorf(deed.CodeValidation, "%s takes %d arguments", in.Action, act.args)
		}
		line, err := act.do(ctx, s.Operator, operator.Act{Operator: in.Operator, Reason: in.Reason, DryRun: in.DryRun}, in.Args)
		return []string{line}, err
	}
	switch {
	case in.Action == "find" && len(in.Args) == 1:
		found, err := s.Operator.Find(ctx, in.Args[0])
		if err == nil && len(found) == 0 {
			err = deed.Errorf(deed.CodeNotFound, "nothing is known of %s", deed.Quoted(in.Args[0]))
		}
		return foundLines(found), err
	case in.Action == "timeline" && len(in.Args) == 1:
		f, entries, err := s.Operator.Timeline(ctx, in.Args[0])
		if err != nil {
			return nil, err
		}
		return append(foundLines([]operator.Found{f}), timelineLines(entries)...), nil
	case in.Action == "actions":
		all, err := s.Operator.Actions(ctx)
		return actionLines(all), err
	case in.Action == "float":
		return s.Float(ctx)
	}
	return nil, deed.Errorf(deed.CodeValidation, "there is no action %s with %d arguments", deed.Quoted(in.Action), len(in.Args))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func foundLines(all []operator.Found) []string {
	lines := []string{"PAYMENT\tJOB\tKIND\tNAME\tWALLET\tUSDC\tPAYMENT STATE\tJOB STATE\tCREATED"}
	for _, f := range all {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", f.PaymentID, f.JobID, f.Kind, f.Domain, f.Wallet, f.Amount, f.PaymentState, f.JobState, stamp(f.Created)))
	}
	return lines
}

func timelineLines(all []operator.Entry) (lines []string) {
	for _, m := range all {
		lines = append(lines, stamp(m.At)+"\t"+m.What)
	}
	return lines
}

func actionLines(all []operator.Action) []string {
	lines := []string{"AT\tOPERATOR\tACTION\tTARGET\tREASON\tOUTCOME"}
	for _, a := range all {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", stamp(a.At), a.Operator, a.Action, a.Target, a.Reason, a.Outcome))
	}
	return lines
}
