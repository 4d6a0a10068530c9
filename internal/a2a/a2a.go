// Package a2a is the way in for agents that speak A2A 1.0 (JSON-RPC): a thin
// adapter over the table of package agent, which decides nothing.
//
// A message has a data part {"skill": …, "arguments": {…}}. The skill is a tool
// of the table; what it answers comes back as a message, or as a task where an
// order began: the id of the task is the job's, so any node can tell of it and
// none has to remember it. Text without a data part is answered with the
// schemas of all skills.
//
// What costs money is answered with a task that wants input: the offer is in
// its metadata x402.payment.required. Its id carries the request itself, so the
// payment may come with that id alone (payment.go). A stream goes on telling of
// a job until it has ended (stream.go).
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
	patience = time.Minute      // longer than any skill takes
	beat     = 15 * time.Second // between two signs of life of a stream
)

// Server answers POST /a2a, one message at a time. Fill every field.
type Server struct {
	Desk *agent.Desk
	Log  *slog.Logger

	// Stopping says whether this process is about to end: streams end too, and
	// their callers subscribe again, at another node.
	Stopping func() bool
}

// ServeHTTP answers one request of JSON-RPC.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &flushing{ResponseWriter: w, control: http.NewResponseController(w)}
	_ = out.control.SetWriteDeadline(time.Now().Add(patience)) // where there is none, none is needed
	if asked := r.Header.Values(a2a.SvcParamExtensions); slices.ContainsFunc(asked, func(list string) bool { return strings.Contains(list, api.A2APaymentExtension) }) {
		w.Header().Set(a2a.SvcParamExtensions, api.A2APaymentExtension)
	}
	caller := &conversation{Server: s, bearer: bearer(r), from: agent.OriginOf(r)}
	a2asrv.NewJSONRPCHandler(caller, a2asrv.WithTransportKeepAlive(beat), a2asrv.WithTransportPanicHandler(s.panicked)).ServeHTTP(out, r)
}

func (s *Server) panicked(v any) error {
	s.Log.Error("panic", "route", "POST /a2a", "panic", v, "stack", string(debug.Stack()))
	return a2a.NewError(a2a.ErrInternalError, "the service is unavailable: try again in a moment")
}

// bearer returns the token of a request; whether it is a good one is for the
// call to say that needs it.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// flushing is what the protocol's own library wants of a writer that streams.
// A reader who stands still is let go.
type flushing struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Flush implements http.Flusher.
func (w *flushing) Flush() {
	_ = w.control.SetReadDeadline(time.Time{})               // the request was read
	_ = w.control.SetWriteDeadline(time.Now().Add(2 * beat)) // where there is none, none is needed
	_ = w.control.Flush()                                    // the next write says that the caller is gone
}

// Unwrap lets http.ResponseController find what is below.
func (w *flushing) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A conversation is one request: what it asks, and for whom. It is all that the
// library sees of us.
type conversation struct {
	*Server
	bearer string
	from   agent.Origin
}

var _ a2asrv.RequestHandler = (*conversation)(nil)

// SendMessage carries out what a message asks for.
func (c *conversation) SendMessage(ctx context.Context, in *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	r, other, err := read(in)
	if err != nil || other != nil {
		return other, err
	}
	return c.do(ctx, r)
}

// do carries out a request that could be read.
func (c *conversation) do(ctx context.Context, r request) (a2a.SendMessageResult, error) {
	a, err := c.Desk.Do(ctx, r.tool, agent.Request{Arguments: r.arguments, Bearer: c.bearer, Payment: r.payment, From: c.from})
	if err != nil {
		return nil, c.failed(ctx, fmt.Errorf("carry out %s: %w", r.tool.Name, err))
	}
	return r.reply(a), nil
}

// failed tells the log why, and the caller that it was not their fault.
func (c *conversation) failed(ctx context.Context, err error) error {
	c.Log.ErrorContext(ctx, "request failed", "route", "POST /a2a", "err", err)
	return a2a.NewError(a2a.ErrInternalError, "the service is unavailable: try again in a moment")
}

// GetTask tells how far an order is, or what it would cost.
func (c *conversation) GetTask(ctx context.Context, in *a2a.GetTaskRequest) (*a2a.Task, error) {
	if r, ok := carried(string(in.ID)); ok {
		result, err := c.do(ctx, r)
		task, offered := result.(*a2a.Task)
		if err == nil && !offered {
			err = a2a.NewError(a2a.ErrTaskNotFound, "this offer does not stand any more: ask again")
		}
		return task, err
	}
	return c.job(ctx, in.ID, "")
}

// CancelTask lets an offer go. An order that was paid for is not given up: it
// ends in a name or in a refund.
func (c *conversation) CancelTask(ctx context.Context, in *a2a.CancelTaskRequest) (*a2a.Task, error) {
	if r, ok := carried(string(in.ID)); ok {
		return r.declined(), nil
	}
	if _, err := c.job(ctx, in.ID, ""); err != nil {
		return nil, err
	}
	return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "an order that was paid for ends in a name or in a refund")
}

// ListTasks is for those who keep tasks; a wallet's orders are among its
// payments.
func (c *conversation) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "use the skill list_transactions: it has the job of every payment")
}

// GetTaskPushConfig is not for us: we push nothing.
func (c *conversation) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// ListTaskPushConfigs is not for us either.
func (c *conversation) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// CreateTaskPushConfig is not for us either.
func (c *conversation) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

// DeleteTaskPushConfig is not for us either.
func (c *conversation) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return a2a.ErrPushNotificationNotSupported
}

// GetExtendedAgentCard is not for us: everyone sees the whole card.
func (c *conversation) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, a2a.ErrExtendedCardNotConfigured
}

// one is a stream of one event, or of why there is none.
func one(e a2a.Event, err error) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) { yield(e, err) }
}
