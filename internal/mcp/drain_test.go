package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/internal/agent"
)

// sink collects what is written.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sink) Close() error { return nil }

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// What was asked before the end of the input is answered, the last line without a line
// break included.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	in := handshake + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":"last","method":"ping"}`
	var out sink
	if err := (Stdio{Executor: &agent.Executor{}}).Serve(t.Context(), io.NopCloser(strings.NewReader(in)), &out); err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"id":1,`, `"id":2,`, `"id":"last",`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no answer with %s", want)
		}
	}
}

// An answer counts also if its ID is written in another way, and a request whose ID is null
// has no answer.
func TestIDsInAnotherForm(t *testing.T) {
	for request, answer := range map[string]string{
		`{"jsonrpc":"2.0","id":2.0,"method":"ping"}`:                                      `{"jsonrpc":"2.0","id":2,"result":{}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                         `{"jsonrpc":"2.0","id":9007199254740992,"result":{}}`,
		`{"jsonrpc":"2.0","id":"\u00e9\/","method":"ping"}`:                               `{"jsonrpc":"2.0","id":"é/","result":{}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                     ``,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"1","method":"b"}]`: `{"jsonrpc":"2.0","id":"1","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		d := newDrain(t.Context(), io.NopCloser(strings.NewReader(request+"\n")), &sink{})
		if _, err := d.Read(make([]byte, 200)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(d, answer+"\n"); err != nil {
			t.Fatal(err)
		}
		if len(d.open) > 0 {
			t.Errorf("%s is open after %s", request, answer)
		}
	}
}

// An answer has the ID of its request, digit by digit.
func TestIDsOnStdinComeBackAsTheyWere(t *testing.T) {
	in := handshake + `{"jsonrpc":"2.0","id":1795121880123456789,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":1.5,"method":"ping"}` + "\n"
	var out sink
	if err := (Stdio{Executor: &agent.Executor{}}).Serve(t.Context(), io.NopCloser(strings.NewReader(in)), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":1795121880123456789,"result"`, `"id":1.5,"result"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no answer with %s in %s", want, out.String())
		}
	}
}

// A list of messages (JSON-RPC 2.0, 6), which the protocol had in one version only, does
// not end the session: each message is answered as if it had come alone.
func TestListsOfMessages(t *testing.T) {
	const list = `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}},{"jsonrpc":"2.0","id":"a","method":"ping"},
		{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}},{"jsonrpc":"2.0","id":"b","method":"ping"}]`
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		in := strings.Replace(handshake, "2025-06-18", version, 1) + strings.ReplaceAll(list, "\n", "") + "\n" + `{"jsonrpc":"2.0","id":"next","method":"ping"}` + "\n"
		var out sink
		if err := (Stdio{Executor: &agent.Executor{}}).Serve(t.Context(), io.NopCloser(strings.NewReader(in)), &out); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		for _, want := range []string{`"id":"a","result"`, `"id":"b","result"`, `"id":"next","result"`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: there is no answer with %s in %s", version, want, out.String())
			}
		}
	}
}

// What is read leniently is answered before the end, too: a member that is there twice, and
// text that is not UTF-8.
func TestLenientRequestsBeforeTheEndAreAnswered(t *testing.T) {
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"prompts/list","params":{},"params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/list","params":{"x":"` + "\xff" + `"}}`,
	} {
		d := newDrain(t.Context(), io.NopCloser(strings.NewReader(request+"\n")), &sink{})
		if _, err := d.Read(make([]byte, 200)); err != nil || len(d.open) != 1 {
			t.Errorf("%q: %d requests are open, want 1; %v", request, len(d.open), err)
		}
	}
}

// A line that is not a message gets an error, and the session goes on.
func TestLinesThatAreNoMessages(t *testing.T) {
	for line, want := range map[string]string{
		"deed: a line of a log":             "-32700, id null",
		`{"jsonrpc":"2.0","id":5,"method":`: "-32700, id null",
		`5`:                                 "-32600, id null",
		`[]`:                                "-32600, id null",
		`[5]`:                               "-32600, id null",
		`{"jsonrpc":"1.0","id":5,"method":"ping"}`:                             "-32600, id 5",
		`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`:                       "-32600, id null",
		`{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", maxMessage): "-32600, id null",
	} {
		var out sink
		in := handshake + line + "\n\n" + `{"jsonrpc":"2.0","id":"next","method":"ping"}` + "\n"
		if err := (Stdio{Executor: &agent.Executor{}}).Serve(t.Context(), io.NopCloser(strings.NewReader(in)), &out); err != nil {
			t.Errorf("%.50s: %v", line, err)
		}
		var got []string
		for answer := range strings.Lines(out.String()) {
			var e struct {
				ID    jsontext.Value
				Error struct{ Code int }
			}
			if err := json.Unmarshal([]byte(answer), &e, json.MatchCaseInsensitiveNames(true)); err != nil || e.Error.Code != 0 {
				got = append(got, fmt.Sprintf("%d, id %s", e.Error.Code, e.ID))
			}
		}
		if !slices.Equal(got, []string{want}) || !strings.Contains(out.String(), `"id":"next"`) {
			t.Errorf("%.50s: got %s", line, got)
		}
	}
}

// The end is not held back for ever: not after the timeout, and not when the session is
// to end.
func TestTheEndIsHeldBackForALimitedTime(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, d := range map[string]*drain{
		"timeout": newDrain(t.Context(), io.NopCloser(strings.NewReader(handshake)), &sink{}),
		"stopped": newDrain(stopped, io.NopCloser(strings.NewReader(handshake)), &sink{}),
	} {
		if name == "timeout" {
			d.timeout = time.Millisecond
		}
		if got, err := io.ReadAll(d); err != nil || string(got) != handshake {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
