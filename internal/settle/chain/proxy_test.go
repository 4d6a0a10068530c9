package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A proxy hands questions on to the chain, until it is broken.
type proxy struct {
	next http.Handler

	mu     sync.Mutex    // guards the fields below
	mode   string        // "", "not done", "done", "cut", "hang", "hold"
	broken chan struct{} // closed when the first transaction was lost
	asked  chan struct{} // closed when the first question hangs
	free   chan struct{} // closed when hanging ends
	looks  int           // questions for the newest block, one in each round

	refuse func(method string, params []json.RawMessage) *refusal // may be nil
	calls  map[string]int                                         // by method
}

// A refusal is what an endpoint answers instead: a status, or a result or an error of
// JSON-RPC with the status 200.
type refusal struct {
	result     string
	object     string // a result that is not a string
	status     int
	retryAfter string
	code       int
	message    string
}

// refusing sets what the proxy refuses from now on.
func (w *proxy) refusing(f func(method string, params []json.RawMessage) *refusal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = f
}

// counted returns how many calls came, and forgets them.
func (w *proxy) counted() (n int, byMethod map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	byMethod, w.calls = w.calls, nil
	for _, k := range byMethod {
		n += k
	}
	return n, byMethod
}

// judge counts a call and says whether it is refused.
func (w *proxy) evaluate(body []byte) *refusal {
	var call struct {
		Method string
		Params []json.RawMessage
	}
	if err := json.Unmarshal(body, &call); err != nil {
		panic(err) // the client sends JSON
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]int{}
	}
	w.calls[call.Method]++
	if w.refuse == nil {
		return nil
	}
	return w.refuse(call.Method, call.Params)
}

func (r *refusal) write(rw http.ResponseWriter) {
	if r.status != 0 {
		if r.retryAfter != "" {
			rw.Header().Set("Retry-After", r.retryAfter)
		}
		rw.WriteHeader(r.status)
		return
	}
	if r.object != "" {
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":1,"result":%s}`, r.object)
		return
	}
	if r.result != "" {
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":1,"result":%q}`, r.result)
		return
	}
	fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, r.code, r.message)
}

func (w *proxy) lose(done bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.broken = "not done", make(chan struct{})
	if done {
		w.mode = "done"
	}
	return w.broken
}

// rounds returns how many rounds a settler has ended that signs nothing.
func (w *proxy) rounds() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}

// cut leaves nothing through.
func (w *proxy) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = "cut"
}

// hang leaves questions without an answer; hold answers them after mend. Both
// return a channel that is closed with the first question.
func (w *proxy) hang() <-chan struct{} { return w.stop("hang") }
func (w *proxy) hold() <-chan struct{} { return w.stop("hold") }

func (w *proxy) stop(mode string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.asked, w.free = mode, make(chan struct{}), make(chan struct{})
	return w.asked
}

func (w *proxy) repair() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mode == "hang" || w.mode == "hold" {
		close(w.free)
	}
	w.mode = ""
}

func (w *proxy) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if refused := w.evaluate(body); refused != nil {
		refused.write(rw)
		return
	}
	send := strings.Contains(string(body), "eth_sendRawTransaction")
	w.mu.Lock()
	mode, free := w.mode, w.free
	if strings.Contains(string(body), "eth_getBlockByNumber") && strings.Contains(string(body), `"latest"`) {
		w.looks++
	}
	switch {
	case mode == "hang" || mode == "hold":
		if !isClosed(w.asked) {
			close(w.asked)
		}
	case (mode == "done" || mode == "not done") && send:
		if mode == "done" {
			w.next.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.Background()))
		}
		w.mode = "cut"
		close(w.broken)
		mode = "cut"
	}
	w.mu.Unlock()
	switch mode {
	case "hang":
		<-free
		panic(http.ErrAbortHandler)
	case "hold":
		<-free
	case "cut":
		panic(http.ErrAbortHandler)
	}
	w.next.ServeHTTP(rw, r)
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
