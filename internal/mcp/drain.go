package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// drainTimeout is how long the end of the input is held back while requests that came
// before it are answered. A purchase takes seconds.
const drainTimeout = time.Minute

// A drain is the input and the output of a session. The library ends the session when it
// sees the end of the input, and drops the requests that it still works on. So Read
// returns the end only when each request that it returned was answered, when the time is
// over, or when the session is to end. Make one with newDrain.
type drain struct {
	in      io.ReadCloser
	out     io.WriteCloser
	done    <-chan struct{}
	timeout time.Duration
	read    lines // guarded by the library, which reads in one goroutine

	mu      sync.Mutex
	written lines                   // guarded by mu, like all fields below
	open    map[jsonrpc.ID]struct{} // requests without an answer
	changed chan struct{}           // closed and replaced when open shrinks
}

func newDrain(ctx context.Context, in io.ReadCloser, out io.WriteCloser) *drain {
	return &drain{in: in, out: out, done: ctx.Done(), timeout: drainTimeout, open: map[jsonrpc.ID]struct{}{}, changed: make(chan struct{})}
}

// Read implements io.Reader.
func (d *drain) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.read.add(p[:n], d.note)
	if err == nil || n > 0 {
		return n, nil // the end comes again
	}
	d.read.end(d.note)
	deadline := time.NewTimer(d.timeout)
	defer deadline.Stop()
	for {
		d.mu.Lock()
		left, changed := len(d.open), d.changed
		d.mu.Unlock()
		if left == 0 {
			return 0, err
		}
		select {
		case <-changed:
		case <-deadline.C:
			return 0, err
		case <-d.done:
			return 0, err
		}
	}
}

// Write implements io.Writer.
func (d *drain) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written.add(p[:n], func(m message) {
		if m.Method == "" {
			delete(d.open, m.id())
			close(d.changed)
			d.changed = make(chan struct{})
		}
	})
	return n, err
}

// Close implements io.Closer, for both streams.
func (d *drain) Close() error { return errors.Join(d.in.Close(), d.out.Close()) }

// note remembers a request.
func (d *drain) note(m message) {
	id := m.id()
	if m.Method == "" || !id.IsValid() { // an answer to us, or a notification
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[id] = struct{}{}
}

// A message has what tells requests, answers and notifications apart (JSON-RPC 2.0).
type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
}

// id returns the ID as the library reads it, which need not be written in an answer as it
// was in the request: 2.0 becomes 2. It is not valid if there is none.
func (m message) id() jsonrpc.ID {
	id, _ := jsonrpc.MakeID(m.ID) // the library refuses an ID of another type
	return id
}

// lines finds the messages in a stream that has one in each line, or a list of them.
type lines struct{ rest []byte }

// add calls f for each message that is complete. The library refuses what is none.
func (l *lines) add(p []byte, f func(message)) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, complete := bytes.Cut(l.rest, []byte("\n"))
		if !complete {
			if len(l.rest) > maxMessage {
				l.rest = nil // which the library refuses
			}
			return
		}
		l.rest = rest
		each(line, f)
	}
}

// end calls f for a last line without a line break.
func (l *lines) end(f func(message)) {
	each(l.rest, f)
	l.rest = nil
}

func each(line []byte, f func(message)) {
	var one message
	if json.Unmarshal(line, &one) == nil {
		f(one)
		return
	}
	var all []message
	if json.Unmarshal(line, &all) == nil {
		for _, m := range all {
			f(m)
		}
	}
}
