package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	rpc "deed.example/deed/internal/jsonrpc"
	"deed.example/deed/internal/wirejson"
)

// drainTimeout is how long the end of the input is held back while requests that came
// before it are answered. A purchase takes seconds.
const drainTimeout = time.Minute

// A drain is the input and the output of a session. The library ends the session when it
// sees the end of the input, and drops the requests that it still works on. So Read
// returns the end only when each request that it returned was answered, when the time is
// over, or when the session is to end.
//
// The library also ends the session at a line that is not a message, and at most lists of
// messages. So such a line gets an error from here, and the library does not see it; of a
// list it sees the messages. Make a drain with newDrain.
type drain struct {
	in      io.ReadCloser
	out     io.WriteCloser
	done    <-chan struct{}
	timeout time.Duration

	// Only Read uses these, which the library calls in one goroutine.
	read  lines
	ready []byte // lines for the library
	end   error  // of the input

	writing sync.Mutex // guards out

	mu      sync.Mutex
	written lines                         // guarded by mu, like all fields below
	open    map[jsonrpc.ID]jsontext.Value // requests without an answer, with their IDs as they were sent
	changed chan struct{}                 // closed and replaced when open shrinks
}

func newDrain(ctx context.Context, in io.ReadCloser, out io.WriteCloser) *drain {
	return &drain{in: in, out: out, done: ctx.Done(), timeout: drainTimeout, open: map[jsonrpc.ID]jsontext.Value{}, changed: make(chan struct{})}
}

// Read implements io.Reader.
func (d *drain) Read(p []byte) (int, error) {
	for len(d.ready) == 0 && d.end == nil {
		n, err := d.in.Read(p)
		d.read.add(p[:n], d.take)
		if d.end = err; err != nil {
			d.read.flush(d.take)
		}
	}
	if len(d.ready) > 0 {
		n := copy(p, d.ready)
		d.ready = d.ready[n:]
		return n, nil
	}
	return 0, d.wait()
}

// take passes the messages in a line of the input on, or refuses them.
func (d *drain) take(line []byte, whole bool) {
	if !whole || len(line) >= maxMessage {
		d.refuse(&rpc.Error{Code: rpc.CodeInvalidRequest, ID: noID, Reason: fmt.Sprintf("a message has less than %d bytes", maxMessage)})
		return
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	all := messages(line)
	if len(all) == 0 {
		d.refuse(&rpc.Error{Code: rpc.CodeInvalidRequest, ID: noID, Reason: "there is no message in this list"})
	}
	for _, one := range all {
		m, wrong := decode(one)
		if wrong != nil {
			d.refuse(wrong)
			continue
		}
		d.note(m, rpc.ID(one))
		d.ready = append(append(d.ready, one...), '\n')
	}
}

// messages returns the messages of a list, or the line itself if it is none. The protocol
// has lists in its version 2025-03-26 only.
func messages(line []byte) []jsontext.Value {
	if text := bytes.TrimSpace(line); text[0] != '[' || !jsontext.Value(text).IsValid(lenient) {
		return []jsontext.Value{line}
	}
	var all []jsontext.Value
	_ = json.Unmarshal(line, &all, lenient) // it is a list of valid values
	return all
}

var noID = jsontext.Value("null")

// decode returns a message as the library reads it, or why the library does not take it.
func decode(one jsontext.Value) (jsonrpc.Message, *rpc.Error) {
	if e := rpc.Check(one, methods); e != nil {
		return nil, e
	}
	m, err := jsonrpc.DecodeMessage(one)
	if err != nil {
		return nil, &rpc.Error{Code: rpc.CodeInvalidRequest, ID: noID, Reason: "this is not a message of JSON-RPC 2.0"}
	}
	return m, nil
}

// lenient leaves names that are there twice, and text that is not UTF-8, to the library.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// refuse answers a line that the library does not see, with its ID if it has one.
func (d *drain) refuse(e *rpc.Error) {
	raw, err := wirejson.Marshal(rpcError(e.Code, e.ID, e.Body()))
	if err != nil {
		return // an ID cannot make it fail
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	_, _ = d.out.Write(append(raw, '\n')) // the library notices that the client is gone
}

// wait holds the end of the input back.
func (d *drain) wait() error {
	deadline := time.NewTimer(d.timeout)
	defer deadline.Stop()
	for {
		d.mu.Lock()
		left, changed := len(d.open), d.changed
		d.mu.Unlock()
		if left == 0 {
			return d.end
		}
		select {
		case <-changed:
		case <-deadline.C:
			return d.end
		case <-d.done:
			return d.end
		}
	}
}

// Write implements io.Writer.
func (d *drain) Write(p []byte) (int, error) {
	d.writing.Lock()
	_, err := d.out.Write(withID(p, d.sentID(p)))
	d.writing.Unlock()
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written.add(p, d.answered)
	return len(p), nil
}

// sentID returns the ID of the request that a message of the library answers, or nil.
func (d *drain) sentID(p []byte) jsontext.Value {
	m, _ := jsonrpc.DecodeMessage(bytes.TrimSpace(p)) // the library wrote it, in one piece
	r, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[r.ID]
}

// answered forgets the request that a line of the output answers. The caller holds mu.
func (d *drain) answered(line []byte, _ bool) {
	m, _ := jsonrpc.DecodeMessage(line) // the library wrote it
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(d.open, r.ID)
		close(d.changed)
		d.changed = make(chan struct{})
	}
}

// Close implements io.Closer, for both streams.
func (d *drain) Close() error { return errors.Join(d.in.Close(), d.out.Close()) }

// note remembers a request and its ID as it was sent.
func (d *drain) note(m jsonrpc.Message, sent jsontext.Value) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.ID.IsValid() { // an answer to us, or a notification
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[r.ID] = sent
}
