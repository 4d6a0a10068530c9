package a2a

import (
	"context"
	"iter"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	lookEvery = 500 * time.Millisecond // at a job that somebody watches
	streamFor = 10 * time.Minute       // then the caller subscribes again
)

// SendStreamingMessage carries out what a message asks for, and goes on telling
// of the order that it began.
func (c *conversation) SendStreamingMessage(ctx context.Context, in *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	result, err := c.SendMessage(ctx, in)
	task, ok := result.(*a2a.Task)
	if err != nil || !ok {
		return one(result, err)
	}
	return c.follow(ctx, task)
}

// SubscribeToTask tells of an order that began earlier.
func (c *conversation) SubscribeToTask(ctx context.Context, in *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	task, err := c.job(ctx, in.ID, "")
	if err == nil && task.Status.State.Terminal() {
		err = a2a.NewError(a2a.ErrUnsupportedOperation, "this task has ended: GetTask tells how")
	}
	if err != nil {
		return one(nil, err)
	}
	return c.follow(ctx, task)
}

// follow yields the task, and every change of it until it has ended. Where too
// many watch already, the task is all there is: the caller may ask for it again.
func (c *conversation) follow(ctx context.Context, task *a2a.Task) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if !yield(task, nil) || resting(task) {
			return
		}
		select {
		case c.Desk.Seats <- struct{}{}:
			defer func() { <-c.Desk.Seats }()
		default:
			return
		}
		ctx, cancel := context.WithTimeout(ctx, streamFor)
		defer cancel()
		for c.Desk.Pause(ctx, lookEvery) == nil && !c.Stopping() {
			next, err := c.job(ctx, task.ID, task.ContextID)
			if err != nil {
				continue // a look that failed says nothing of the job
			}
			if !changed(task, next) {
				continue
			}
			if task = next; !tell(task, yield) || resting(task) {
				return
			}
		}
	}
}

// resting says whether nothing more will happen to a task by itself.
func resting(t *a2a.Task) bool {
	return t.Status.State.Terminal() || t.Status.State == a2a.TaskStateInputRequired
}

func changed(a, b *a2a.Task) bool {
	return a.Status.State != b.Status.State || a.Status.Message.Parts[0].Text() != b.Status.Message.Parts[0].Text()
}

// tell yields what changed: the result first, so that the last word is that the
// task has ended.
func tell(t *a2a.Task, yield func(a2a.Event, error) bool) bool {
	if t.Status.State.Terminal() {
		result := &a2a.TaskArtifactUpdateEvent{TaskID: t.ID, ContextID: t.ContextID, Artifact: t.Artifacts[0], LastChunk: true}
		if !yield(result, nil) {
			return false
		}
	}
	return yield(&a2a.TaskStatusUpdateEvent{TaskID: t.ID, ContextID: t.ContextID, Status: t.Status}, nil)
}
