package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// A watch follows something at the service until it is over: by its event stream if the
// service offers one, and by polling otherwise.
type watch struct {
	request func() request                 // the next one, without Accept
	event   func(data []byte) error        // takes an event of the stream
	answer  func(a answer) error           // takes a response that is no stream
	over    func() bool                    // nothing more is wanted
	pause   func(plain bool) time.Duration // the least time before the next request
}

// streamTimeout is how long a stream may be silent. The service sends a comment
// every 15 seconds.
const streamTimeout = time.Minute

// follow makes requests until the watch is over. It repeats those that fail because of the
// network, or of a service that restarts; a stream that failed is followed by a plain request.
func (c *Client) follow(ctx context.Context, w watch) error {
	wait, plain, notice := firstPause, false, retryNotice{notify: c.notify}
	for {
		err := c.poll(ctx, w, plain)
		if w.over() {
			return nil
		}
		least := w.pause(plain)
		switch {
		case err == nil:
			wait, plain = firstPause, false
			notice.reset()
		case ctx.Err() != nil || !temporary(err):
			return err
		default:
			wait, plain = min(2*wait, maxPause), !plain
			notice.failed(err)
			least = max(least, retryAfter(err))
		}
		if err := pause(ctx, max(wait, least)); err != nil {
			return err
		}
	}
}

// A retryNotice tells the caller that a request is repeated, once for each outage.
type retryNotice struct {
	notify func(error) // may be nil
	told   bool
}

func (n *retryNotice) failed(err error) {
	if n.notify != nil && !n.told {
		n.notify(err)
	}
	n.told = true
}

func (n *retryNotice) reset() { n.told = false }

// brokenAnswer is the error of a response that ended too early, or is not from the service.
type brokenAnswer struct{ error }

// Error returns a message with the cause.
func (e brokenAnswer) Error() string {
	return "the answer broke off, or is not from the service: " + e.error.Error()
}

// Unwrap returns the cause.
func (e brokenAnswer) Unwrap() error { return e.error }

// temporary reports whether the same request may succeed later.
func temporary(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return lost(e) || e.Status == http.StatusTooManyRequests
	}
	_, unreachable := errors.AsType[*url.Error](err)
	_, broken := errors.AsType[brokenAnswer](err)
	return unreachable || broken
}

// retryAfter returns how long the service asked to wait.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return min(e.RetryAfter, maxRetryAfter)
	}
	return 0
}

// poll makes one request, and reads the stream to its end if there is one.
func (c *Client) poll(ctx context.Context, w watch, plain bool) error {
	r := w.request()
	if !plain {
		r.accept = "text/event-stream, application/json;q=0.9"
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alarm := time.AfterFunc(streamTimeout, cancel)
	defer alarm.Stop()
	res, err := c.openAuthorized(ctx, r)
	if err != nil {
		return err
	}
	defer res.Body.Close() // it has been read, or the rest is not needed
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		err = readStream(res.Body, w, func() { alarm.Reset(streamTimeout) })
	} else {
		err = readAnswer(res, w)
	}
	if _, said := errors.AsType[*Error](err); err != nil && !said {
		return brokenAnswer{err}
	}
	return err
}

// openAuthorized sends r with a token if it needs one, like send, and returns the response
// with its body unread.
func (c *Client) openAuthorized(ctx context.Context, r request) (*http.Response, error) {
	if !r.bearer {
		return c.open(ctx, r, "", "")
	}
	token, err := c.token(ctx, "")
	if err != nil {
		return nil, err
	}
	res, err := c.open(ctx, r, token, "")
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	res.Body.Close() // only the status matters
	if token, err = c.token(ctx, token); err != nil {
		return nil, err
	}
	return c.open(ctx, r, token, "")
}

func readAnswer(res *http.Response, w watch) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	a := answer{res.StatusCode, res.Header, body}
	if err := a.err(); err != nil {
		return err
	}
	return w.answer(a)
}

// readStream reads an event stream. It calls alive for every line.
func readStream(body io.Reader, w watch, alive func()) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	var data []byte
	for lines.Scan() {
		alive()
		if text, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
			if data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n'); len(data) > maxAnswer {
				return fmt.Errorf("an event is larger than %d bytes", maxAnswer)
			}
			continue
		}
		if len(lines.Bytes()) > 0 || len(data) == 0 {
			continue // an empty line ends an event; other lines are ignored
		}
		if err := w.event(data); err != nil {
			return err
		}
		data = data[:0]
		if w.over() {
			return nil
		}
	}
	return lines.Err()
}
