package main

import (
	"context"
	"io"

	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/mcp"
)

// speakMCP serves an agent on two streams (MCP).
func speakMCP(ctx context.Context, a cli.Agent, in io.ReadCloser, out io.WriteCloser) error {
	return mcp.Stdio{Executor: a.Executor, Consent: a.Consent, Version: version(), Sandbox: a.Sandbox}.Serve(ctx, in, out)
}
