package opusdns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/urlerror"
)

// Limits of a reply.
const (
	maxReply = 1 << 20
	maxList  = 16 << 20 // a page of 1000 names, or a price list
)

// maxTries is how often a request is sent that the vendor puts off with 429.
const maxTries = 3

// A client makes requests.
type client struct {
	base    *url.URL
	key     deed.Secret
	timeout time.Duration // of one request
	pace    *pace
	http    *http.Client
}

// A request is a request to the vendor, and what is expected of the reply.
type request struct {
	lane   lane
	method string
	path   string // with escaped names
	query  url.Values
	in     any   // the body; nil for none
	limit  int64 // of the reply; maxReply when zero
}

// do makes the request and decodes the reply into out, unless out is nil. It fails
// with a *problem when the vendor refuses the request: then nothing was done. After
// any other error the outcome is unknown.
//
// A request that is answered with 429 was not executed. It is sent again when the
// vendor's pause is over, if ctx allows that.
func (c *client) do(ctx context.Context, r request, out any) error {
	var body []byte
	if r.in != nil {
		var err error
		if body, err = json.Marshal(r.in, json.Deterministic(true)); err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
	}
	for try := 1; ; try++ {
		if err := c.pace.wait(ctx, r.lane); err != nil {
			return err
		}
		err := c.send(ctx, r, body, out)
		var putOff *postponed
		if !errors.As(err, &putOff) {
			return err
		}
		c.pace.pause(putOff.pause)
		if try == maxTries {
			return err
		}
	}
}

// send makes the request once.
func (c *client) send(ctx context.Context, r request, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	target := c.base.String() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(body))
	if err != nil {
		return errors.New("make a request: the path is not valid")
	}
	req.Header.Set("X-Api-Key", c.key.Reveal())
	req.Header.Set("Accept", "application/json, application/problem+json")
	req.Header.Set("X-Datetime-Format", "rfc3339") // times with their zone
	req.Header.Set("User-Agent", "deed")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	reply, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("no reply: %w", urlerror.Cause(err))
	}
	defer func() { _ = reply.Body.Close() }()              // it was read
	if reply.StatusCode == http.StatusSwitchingProtocols { // its body is the connection, which no deadline ends
		return fmt.Errorf("the reply has status %d", reply.StatusCode)
	}
	limit := r.limit
	if limit == 0 {
		limit = maxReply
	}
	raw, err := io.ReadAll(io.LimitReader(reply.Body, limit+1))
	if err != nil {
		return fmt.Errorf("the reply is incomplete: %w", urlerror.Cause(err))
	}
	if int64(len(raw)) > limit {
		return fmt.Errorf("%w: it has more than %d bytes", errUndocumented, limit)
	}
	return decodeReply(reply, raw, out)
}

// errUndocumented is a reply that breaks the vendor's own description of it.
var errUndocumented = errors.New("the reply is not as documented")

// decodeReply decodes a complete reply.
func decodeReply(reply *http.Response, raw []byte, out any) error {
	isJSON := hasJSON(reply.Header.Get("Content-Type"))
	switch status := reply.StatusCode; {
	case status == http.StatusTooManyRequests:
		return &postponed{pause: retryAfter(reply.Header.Get("Retry-After"))}
	case status >= 400 && status < 500 && isJSON:
		return decodeProblem(status, raw)
	case status < 200 || status > 299:
		return fmt.Errorf("the reply has status %d", status)
	case out == nil:
		return nil
	case !isJSON:
		return fmt.Errorf("%w: with status %d it is not JSON", errUndocumented, status)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%w: %w", errUndocumented, err)
	}
	return nil
}

func hasJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || kind == "application/problem+json")
}

// A postponed error is a request that was not executed because there were too many.
type postponed struct{ pause time.Duration }

func (p *postponed) Error() string {
	return fmt.Sprintf("too many requests: the vendor asks for a pause of %s", p.pause)
}

// retryAfter returns the pause that the header asks for, in seconds or as a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(header)); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxPause/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return time.Second
}
