package a2a

import (
	"context"
	"iter"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	pollInterval      = 500 * time.Millisecond // of a job that a stream follows
	maxStreamDuration = 10 * time.Minute       // then the client subscribes again
)

// SendStreamingMessage runs the skill that a message asks for, and streams the
// order that it started.
func (h *requestHandler) SendStreamingMessage(ctx context.Context, in *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	result, err := h.SendMessage(ctx, in)
	task, ok := result.(*a2a.Task)
	if err != nil || !ok {
		return singleEvent(result, err)
	}
	return h.follow(ctx, task)
}

// SubscribeToTask streams an order that was started earlier. An offer is sent once: it
// waits for its client.
func (h *requestHandler) SubscribeToTask(ctx context.Context, in *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	task, err := h.GetTask(ctx, &a2a.GetTaskRequest{ID: in.ID})
	if err == nil && task.Status.State.Terminal() {
		err = a2a.NewError(a2a.ErrUnsupportedOperation, "this task has ended: GetTask tells how")
	}
	if err != nil {
		return singleEvent(nil, err)
	}
	return h.follow(ctx, task)
}

// follow yields the task and each of its changes until it has ended, or this process
// stops: its client subscribes again at another node. If there is no free slot, it yields
// the task only, and the client can poll.
func (h *requestHandler) follow(ctx context.Context, task *a2a.Task) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if !yield(task, nil) || idle(task) {
			return
		}
		select {
		case h.Executor.WaitSlots <- struct{}{}:
			defer func() { <-h.Executor.WaitSlots }()
		default:
			return
		}
		ctx, cancel := context.WithTimeout(ctx, maxStreamDuration)
		defer cancel()
		for h.Executor.Pause(ctx, pollInterval) == nil && !h.Executor.Stopping() {
			next, err := h.job(ctx, task.ID, task.ContextID)
			if err != nil {
				continue // a failed poll says nothing about the job
			}
			if !changed(task, next) {
				continue
			}
			if task = next; !yieldUpdate(task, yield) || idle(task) {
				return
			}
		}
	}
}

// idle reports whether a task will not change without input.
func idle(t *a2a.Task) bool {
	return t.Status.State.Terminal() || t.Status.State == a2a.TaskStateInputRequired
}

func changed(a, b *a2a.Task) bool {
	return a.Status.State != b.Status.State || a.Status.Message.Parts[0].Text() != b.Status.Message.Parts[0].Text()
}

// yieldUpdate yields the changes of a task: the result first, so that the last
// event is the one with the final status.
func yieldUpdate(t *a2a.Task, yield func(a2a.Event, error) bool) bool {
	if t.Status.State.Terminal() {
		result := &a2a.TaskArtifactUpdateEvent{TaskID: t.ID, ContextID: t.ContextID, Artifact: t.Artifacts[0], LastChunk: true}
		if !yield(result, nil) {
			return false
		}
	}
	return yield(&a2a.TaskStatusUpdateEvent{TaskID: t.ID, ContextID: t.ContextID, Status: t.Status}, nil)
}
