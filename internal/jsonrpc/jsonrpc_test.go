package jsonrpc_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"deed.example/deed/internal/jsonrpc"
)

type params struct {
	Name  string         `json:"name"`
	Count *int           `json:"count"`
	Meta  map[string]any `json:"_meta"`
	After *time.Time     `json:"after"`
	Raw   []byte         `json:"raw"`
	Share float64        `json:"share"`
	Done  bool           `json:"done"`
	Items []struct {
		Tags []string `json:"tags"`
	} `json:"items"`
}

// Each mistake is named with its code, the ID of the message, the field, and what to send.
func TestMistakesAreNamed(t *testing.T) {
	methods := map[string]jsonrpc.Method{
		"need": {Params: reflect.TypeFor[params](), Rule: func(p any) (string, string) {
			if p.(*params).Name == "bad" {
				return "name", "is bad"
			}
			return "", ""
		}},
		"may": {Params: reflect.TypeFor[params](), Optional: true},
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"need","params":` + params + `}`
	}
	for message, want := range map[string]string{
		`nonsense`: "-32700 null this is not JSON: send one message of JSON-RPC 2.0",
		`5`:        "-32600 null cannot be 5: send an object",
		`{"jsonrpc":"2.0","id":{},"method":"need"}`: "-32600 null id: cannot be {}: send a string or a number",
		`{"jsonrpc":"2.0","id":7,"method":5}`:       "-32600 null method: cannot be 5: send a string",
		`{"jsonrpc":"2.0","id":7}`:                  "-32600 7 method: is missing: send the name of a method",
		`{"jsonrpc":"1.0","id":7,"method":"need"}`:  `-32600 7 jsonrpc: is not "2.0": this endpoint takes JSON-RPC 2.0`,
		`{"jsonrpc":"2.0","id":7,"method":"need"}`:  "-32602 7 params: is missing: send an object",

		call(`[]`):                            "-32602 7 params: cannot be []: send an object",
		call(`{"name":5}`):                    "-32602 7 params.name: cannot be 5: send a string",
		call(`{"count":1.5}`):                 "-32602 7 params.count: cannot be 1.5: send a whole number",
		call(`{"_meta":"x"}`):                 `-32602 7 params._meta: cannot be "x": send an object`,
		call(`{"after":"soon"}`):              `-32602 7 params.after: cannot be "soon": send a time, such as 2027-01-02T03:04:05Z`,
		call(`{"raw":"%"}`):                   `-32602 7 params.raw: cannot be "%": send base64`,
		call(`{"share":"x"}`):                 `-32602 7 params.share: cannot be "x": send a number`,
		call(`{"done":"x"}`):                  `-32602 7 params.done: cannot be "x": send true or false`,
		call(`{"items":{}}`):                  "-32602 7 params.items: cannot be {}: send a list",
		call(`{"items":[{},{"tags":[5]}]}`):   "-32602 7 params.items[1].tags[0]: cannot be 5: send a string",
		call(`{"items":[{"tags":["a",{}]}]}`): "-32602 7 params.items[0].tags[1]: cannot be {}: send a string",
		call(`{"name":"bad"}`):                "-32602 7 params.name: is bad",

		call(`{"name":"x","unknown":5,"name":"y"}`):                "",
		call(`{"count":null,"items":null}`):                        "",
		`{"jsonrpc":"2.0","id":7,"method":"may"}`:                  "",
		`{"jsonrpc":"2.0","id":7,"method":"may","params":null}`:    "",
		`{"jsonrpc":"2.0","id":7,"method":"unknown","params":[5]}`: "",
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                     "",
		`{"jsonrpc":"2.0","id":7,"error":{"code":1}}`:              "",
	} {
		got := ""
		if e := jsonrpc.Check([]byte(message), methods); e != nil {
			got = fmt.Sprintf("%d %s %s", e.Code, e.ID, e.Message())
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}
