package chain_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A way hands questions on to the chain, until it is broken.
type way struct {
	next http.Handler

	mu     sync.Mutex    // guards the fields below
	mode   string        // "", "not done", "done", "cut", "hang", "hold"
	broken chan struct{} // closed when the first transaction was lost
	asked  chan struct{} // closed when the first question hangs
	free   chan struct{} // closed when hanging ends
	counts int           // questions for the count of transactions, two in each round
}

func (w *way) lose(done bool) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.broken = "not done", make(chan struct{})
	if done {
		w.mode = "done"
	}
	return w.broken
}

// rounds returns how many rounds a settler has ended that signs nothing.
func (w *way) rounds() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts / 2
}

// cut leaves nothing through.
func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = "cut"
}

// hang leaves questions without an answer; hold answers them after mend. Both
// return a channel that is closed with the first question.
func (w *way) hang() <-chan struct{} { return w.stop("hang") }
func (w *way) hold() <-chan struct{} { return w.stop("hold") }

func (w *way) stop(mode string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode, w.asked, w.free = mode, make(chan struct{}), make(chan struct{})
	return w.asked
}

func (w *way) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mode == "hang" || w.mode == "hold" {
		close(w.free)
	}
	w.mode = ""
}

func (w *way) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	send := strings.Contains(string(body), "eth_sendRawTransaction")
	w.mu.Lock()
	mode, free := w.mode, w.free
	if strings.Contains(string(body), "eth_getTransactionCount") && strings.Contains(string(body), `"latest"`) {
		w.counts++
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
