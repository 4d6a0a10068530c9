package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/mcp"
)

// maxWaiting is how many agents may wait for a job at the same time.
const maxWaiting = 256

// newExecutor returns an executor that calls the HTTP interface of this process.
func newExecutor(h http.Handler) *agent.Executor {
	return &agent.Executor{Caller: agent.Local{Handler: h}, Now: time.Now, Pause: sleep, WaitSlots: make(chan struct{}, maxWaiting)}
}

// speakMCP serves an agent on two streams, within its spending limits.
func speakMCP(ctx context.Context, d *agent.Executor, c agent.Consent, in io.ReadCloser, out io.WriteCloser) error {
	return mcp.Stdio{Executor: d, Consent: c, Version: version()}.Serve(ctx, in, out)
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
