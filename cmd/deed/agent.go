package main

import (
	"context"
	"io"

	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/mcp"
)

// speakMCP serves an agent on two streams, within its spending limits.
func speakMCP(ctx context.Context, d *agent.Executor, c agent.Consent, in io.ReadCloser, out io.WriteCloser) error {
	return mcp.Stdio{Executor: d, Consent: c, Version: version()}.Serve(ctx, in, out)
}
