package mcp

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// withID returns an answer of the library with the ID of its message as it was sent. The
// library reads a number as a float64, so that beyond 2^53 it answers with another one.
func withID(answer []byte, sent jsontext.Value) []byte {
	read := asRead(sent)
	rest, found := bytes.CutPrefix(answer, answerTo(read))
	if !found || bytes.Equal(read, sent) {
		return answer
	}
	return append(answerTo(sent), rest...)
}

// answerTo returns the beginning of an answer to the message with an ID.
func answerTo(id jsontext.Value) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,`, id)
}

// asRead returns an ID that is a number as the library writes it, and others as they are.
func asRead(id jsontext.Value) jsontext.Value {
	var number float64
	if id.Kind() != '0' || json.Unmarshal(id, &number) != nil {
		return id
	}
	read, err := jsonrpc.MakeID(number)
	if err != nil {
		return id
	}
	return fmt.Append(nil, read.Raw())
}
