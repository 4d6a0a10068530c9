package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

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

// lines finds the lines of a stream. Of one that is too long it forgets the beginning.
type lines struct {
	rest []byte
	long bool
}

// add calls f for each line that is complete, and says whether it is whole.
func (l *lines) add(p []byte, f func(line []byte, whole bool)) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, complete := bytes.Cut(l.rest, []byte("\n"))
		if !complete {
			if len(l.rest) > maxMessage {
				l.rest, l.long = nil, true
			}
			return
		}
		l.rest = rest
		f(line, !l.long)
		l.long = false
	}
}

// flush calls f for a last line without a line break.
func (l *lines) flush(f func(line []byte, whole bool)) {
	f(l.rest, !l.long)
	l.rest = nil
}

// each calls f for the message in a line, or for those in a list of them.
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
