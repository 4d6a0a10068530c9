package a2a

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// resultID is the id of a task's only artifact.
const resultID a2a.ArtifactID = "result"

// task returns a task with its state, a text that explains it, and the result.
func (r request) task(id a2a.TaskID, state a2a.TaskState, text string, body []byte, meta map[string]any) *a2a.Task {
	t := &a2a.Task{ID: id, ContextID: r.context(id), Status: a2a.TaskStatus{State: state}}
	message := a2a.NewMessageForTask(a2a.MessageRoleAgent, t, a2a.NewTextPart(text))
	if r.offer != "" && r.offer != id {
		message.ReferenceTasks = []a2a.TaskID{r.offer}
	}
	if len(meta) > 0 {
		message.Metadata, message.Extensions = meta, []string{api.A2APaymentExtension}
	}
	t.Status.Message = message
	if body != nil {
		t.Artifacts = []*a2a.Artifact{{ID: resultID, Parts: a2a.ContentParts{dataPart(body)}}}
	}
	return t
}

// order returns the task of an order that was paid for.
func (r request) order(a agent.Answer, id a2a.TaskID) *a2a.Task {
	meta := map[string]any{}
	receipt(a.Header, meta)
	state, text := a2a.TaskStateCompleted, "The order is done."
	switch {
	case a.Status == 202 || a.Status == 503: // 503: the result is not known yet
		state, text = a2a.TaskStateWorking, "The order runs: GetTask or SubscribeToTask tells when it is done. Do not pay again."
	case a.Status >= 400:
		state, text = a2a.TaskStateFailed, "The order failed, and its payment goes back."
	}
	return r.task(id, state, text, a.Body, meta)
}

// job returns the task of an order, made from its job.
func (h *requestHandler) job(ctx context.Context, id a2a.TaskID, contextID string) (*a2a.Task, error) {
	tool, _ := agent.Find("get_job")
	args, err := encode(map[string]any{"job_id": id})
	if err != nil {
		return nil, a2a.ErrTaskNotFound
	}
	a, err := h.Executor.Do(ctx, tool, agent.Request{Arguments: args, From: h.from})
	if err != nil {
		return nil, h.failed(ctx, fmt.Errorf("read the job of a task: %w", err))
	}
	switch {
	case a.Status == 404 || a.Status == 400:
		return nil, a2a.ErrTaskNotFound
	case !a.Done():
		return nil, a2a.NewError(a2a.ErrInternalError, "the service is unavailable: try again in a moment")
	}
	var j struct {
		api.Job
		Result jsontext.Value `json:"result"`
	}
	if err := json.Unmarshal(a.Body, &j); err != nil {
		return nil, h.failed(ctx, fmt.Errorf("read the job of a task: %w", err))
	}
	body := a.Body
	if j.Completed && len(j.Result) > 0 {
		body = j.Result
	}
	r := request{contextID: contextID}
	return r.task(id, states[j.Status], statusText(j.Job), body, jobReceipt(j.Payment)), nil
}

// states maps the states of jobs to those of A2A.
var states = map[string]a2a.TaskState{
	"pending":    a2a.TaskStateSubmitted,
	"processing": a2a.TaskStateWorking,
	"completed":  a2a.TaskStateCompleted,
	"failed":     a2a.TaskStateFailed,
}

// statusText describes the state of a job.
func statusText(j api.Job) string {
	text, running := fmt.Sprintf("The order of %s is %s.", j.Domain, j.Status), !j.Completed && j.Status != "failed"
	if len(j.Steps) > 0 && running {
		text += fmt.Sprintf(" It is at step %d: %s.", len(j.Steps), j.Steps[len(j.Steps)-1].Name)
	}
	switch {
	case j.Message != "" && running:
		text += " It waits: " + strings.TrimSuffix(j.Message, ".") + "."
	case j.Message != "":
		text += " " + j.Message
	}
	if j.Refund != nil {
		text += fmt.Sprintf(" %s USDC go back: %s.", j.Refund.Amount, j.Refund.Status)
	}
	return text
}

// jobReceipt returns the metadata with the receipt of an order's payment.
func jobReceipt(p api.Payment) map[string]any {
	out := api.SettleResponse{Success: p.Settled, Payer: p.Payer, Network: p.Network}
	if p.TxHash != nil {
		out.Transaction = *p.TxHash
	}
	return map[string]any{keyStatus: paidStatus(p.Settled), keyReceipts: []any{out}}
}
