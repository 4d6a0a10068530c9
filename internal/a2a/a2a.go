// Package a2a is the adapter for agents that use A2A 1.0 (JSON-RPC): a thin layer
// over the table of package agent, without rules of its own.
//
// A message has a data part {"skill": …, "arguments": {…}}. The skill is a tool
// of the table; its answer is a message, or a task if it started an order: the
// task's id is the job's, so that any node can serve it and none keeps state. Text
// without a data part is answered with what is known of the names in it, and the
// schemas of all skills (prose.go).
//
// A paid skill without a payment returns a task in the state input-required, with
// the offer in its metadata x402.payment.required. The task id encodes the
// request, so that the payment can be sent with the id alone (payment.go). A
// stream sends the changes of a job until the job has ended (stream.go).
package a2a

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

const (
	requestTimeout    = time.Minute      // longer than any skill takes
	keepAliveInterval = 15 * time.Second // of a stream
)

// Server serves POST /a2a, one message per request. Set every field.
type Server struct {
	Executor *agent.Executor
	Log      *slog.Logger
	Sandbox  bool // the service has test money
}

// ServeHTTP serves one JSON-RPC request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &flushWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = out.control.SetWriteDeadline(time.Now().Add(requestTimeout)) // fails for writers without deadlines only, such as in tests
	if asked := r.Header.Values(a2a.SvcParamExtensions); slices.ContainsFunc(asked, func(list string) bool { return strings.Contains(list, api.A2APaymentExtension) }) {
		w.Header().Set(a2a.SvcParamExtensions, api.A2APaymentExtension)
	}
	if refuse(out, r) {
		return
	}
	caller := &requestHandler{Server: s, bearer: bearer(r), from: agent.OriginOf(r)}
	a2asrv.NewJSONRPCHandler(caller, a2asrv.WithTransportKeepAlive(keepAliveInterval), a2asrv.WithTransportPanicHandler(s.panicked)).ServeHTTP(out, r)
}

func (s *Server) panicked(v any) error {
	s.Log.Error("panic", "route", "POST /a2a", "panic", v, "stack", string(debug.Stack()))
	return a2a.NewError(a2a.ErrInternalError, "the service is unavailable: try again in a moment")
}

// bearer returns the token of a request, unchecked: the HTTP call checks it. A request with
// two headers has none, as over HTTP.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// flushWriter is the http.Flusher that the A2A library needs for streams. It
// drops clients that do not read.
type flushWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Flush implements http.Flusher.
func (w *flushWriter) Flush() {
	_ = w.control.SetReadDeadline(time.Time{})                            // the request has been read
	_ = w.control.SetWriteDeadline(time.Now().Add(2 * keepAliveInterval)) // fails for writers without deadlines only, such as in tests
	_ = w.control.Flush()                                                 // the next write fails if the client is gone
}

// Unwrap gives http.ResponseController access to the underlying writer.
func (w *flushWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A requestHandler implements a2asrv.RequestHandler for one HTTP request, with
// its token and origin.
type requestHandler struct {
	*Server
	bearer string
	from   agent.Origin
}

var _ a2asrv.RequestHandler = (*requestHandler)(nil)

// SendMessage runs the skill that a message asks for.
func (h *requestHandler) SendMessage(ctx context.Context, in *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if err := h.check(ctx, in.Message); err != nil {
		return nil, err
	}
	if hasOnlyText(in.Message) {
		return h.answerText(ctx, in.Message), nil
	}
	r, other, err := h.read(in.Message)
	if err != nil || other != nil {
		return other, err
	}
	return h.do(ctx, r)
}

// do runs a parsed request.
func (h *requestHandler) do(ctx context.Context, r request) (a2a.SendMessageResult, error) {
	a, err := h.run(ctx, r)
	if err != nil {
		return nil, err
	}
	return r.reply(a), nil
}

// run returns the answer of the HTTP interface to a parsed request.
func (h *requestHandler) run(ctx context.Context, r request) (agent.Answer, error) {
	a, err := h.Executor.Do(ctx, r.tool, agent.Request{Arguments: r.arguments, Bearer: h.bearer, Payment: r.payment, From: h.from})
	if err != nil {
		return a, h.failed(ctx, fmt.Errorf("run %s: %w", r.tool.Name, err))
	}
	return a, nil
}

// failed logs an internal error and returns the one for the caller.
func (h *requestHandler) failed(ctx context.Context, err error) error {
	h.Log.ErrorContext(ctx, "request failed", "route", "POST /a2a", "err", err)
	return a2a.NewError(a2a.ErrInternalError, "the service is unavailable: try again in a moment")
}

// GetTask returns the state of an order, or the current offer for a request.
func (h *requestHandler) GetTask(ctx context.Context, in *a2a.GetTaskRequest) (*a2a.Task, error) {
	if r, ok := parseOfferID(string(in.ID)); ok {
		return h.offer(ctx, r)
	}
	return h.job(ctx, in.ID, "")
}

// CancelTask declines an offer. An order that was paid for cannot be canceled: it
// ends with a registered name or a refund.
func (h *requestHandler) CancelTask(ctx context.Context, in *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if r, ok := parseOfferID(string(in.ID)); ok {
		return r.declined(), nil
	}
	if _, err := h.job(ctx, in.ID, ""); err != nil {
		return nil, err
	}
	return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "an order that was paid for ends in a name or in a refund")
}

// ListTasks is not supported: this server keeps no tasks. list_transactions has
// the orders of a wallet.
func (h *requestHandler) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "use the skill list_transactions: it has the job of every payment")
}

// GetTaskPushConfig is not supported.
func (h *requestHandler) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs is not supported.
func (h *requestHandler) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig is not supported.
func (h *requestHandler) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig is not supported.
func (h *requestHandler) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return a2a.ErrPushNotificationNotSupported
}

// GetExtendedAgentCard is not supported: the public card is complete.
func (h *requestHandler) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, a2a.ErrExtendedCardNotConfigured
}

// singleEvent returns a stream of one event or error.
func singleEvent(e a2a.Event, err error) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { yield(e, err) }
}
