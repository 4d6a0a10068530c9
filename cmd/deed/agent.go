package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/mcp"
)

// waiting is how many agents may wait for a job at once, in this process.
const waiting = 256

// newExecutor lets agents call the HTTP interface of this process.
func newExecutor(h http.Handler) *agent.Executor {
	return &agent.Executor{Caller: agent.Local{Handler: h}, Now: time.Now, Pause: sleep, WaitSlots: make(chan struct{}, waiting)}
}

// speakMCP serves an agent on two streams, with what it may spend.
func speakMCP(ctx context.Context, d *agent.Executor, c agent.Consent, in io.ReadCloser, out io.WriteCloser) error {
	return mcp.Stdio{Executor: d, Consent: c, Version: version()}.Serve(ctx, in, out)
}

// sleep waits, unless ctx ends first.
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
