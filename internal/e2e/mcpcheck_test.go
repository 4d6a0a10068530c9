package e2e_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func raw(text string) stdjson.RawMessage { return stdjson.RawMessage(text) }

var outputs sync.Map // name of a tool to its compiled schema

// checkOutput validates a result against the output schema of its tool.
func checkOutput(t *testing.T, tool *mcp.Tool, r *mcp.CallToolResult) {
	t.Helper()
	s, known := outputs.Load(tool.Name)
	if !known {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("tool:"+tool.Name, tool.OutputSchema); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile("tool:" + tool.Name)
		if err != nil {
			t.Fatal(err)
		}
		s, _ = outputs.LoadOrStore(tool.Name, compiled)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(body(t, r))))
	if err != nil {
		t.Error(err)
	}
	if err := s.(*jsonschema.Schema).Validate(v); err != nil {
		t.Errorf("%s: %v", tool.Name, err)
	}
}

// remaining returns X-RateLimit-Remaining.
func remaining(t *testing.T, a answer) int {
	t.Helper()
	n, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	if err != nil {
		t.Errorf("got %d %s: %v", a.status, a.body, err)
	}
	return n
}

// step does one round of the worker.
func (s *env) step(t *testing.T) {
	t.Helper()
	s.clock.advance(time.Second)
	_, err := s.api.Payments.ReadChain(t.Context())
	payments, err2 := s.api.Payments.Due(t.Context(), 100)
	refunds, err3 := s.api.Payments.DueRefunds(t.Context(), 100)
	jobs, err4 := s.api.Payments.DueJobs(t.Context(), 100)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Error(err)
	}
	for _, id := range append(payments, refunds...) {
		_, _ = s.api.Payments.Advance(t.Context(), id) // what is open stays due
	}
	for _, id := range jobs {
		_ = s.api.Payments.AdvanceJob(t.Context(), id) // likewise
	}
}
