package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
)

// requestTimeout limits one attempt. The service itself waits up to 8 seconds for
// a registry.
const requestTimeout = 30 * time.Second

// maxAnswer limits how much of a response is read.
const maxAnswer = 16 << 20

// A request is one call that can be sent repeatedly.
type request struct {
	method, path string // the path is escaped
	query        url.Values
	header       http.Header // additional headers
	body         []byte
	identity     []byte                             // what is bought, for the journal; nil: the body
	contentType  string                             // of the body; "": JSON
	accept       string                             // "": JSON
	bearer       bool                               // it needs a token
	paid         bool                               // it may cost money
	maxPrice     *string                            // limit of this call; nil: the client's
	confirm      func(context.Context, Offer) error // nil: the client's
}

// answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// path joins and escapes path segments.
func path(parts ...string) string {
	out := ""
	for _, p := range parts {
		out += "/" + url.PathEscape(p)
	}
	return out
}

// call makes a call with a JSON body, unless in is nil, and decodes the JSON
// response.
func call[Out any](ctx context.Context, c *Client, r request, in any) (out Out, err error) {
	if in != nil {
		if r.body, err = json.Marshal(in); err != nil {
			return out, fmt.Errorf("write the request: %w", err)
		}
	}
	a, err := c.do(ctx, r)
	if err != nil {
		return out, err
	}
	return read[Out](a)
}

func read[Out any](a answer) (out Out, err error) {
	if err := a.foreign(); err != nil {
		return out, err
	}
	if err := json.Unmarshal(a.body, &out); err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	return out, nil
}

// try sends r once, with the payment if it is not "". Its error is a network
// error.
func (c *Client) try(ctx context.Context, r request, token, payment string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := c.open(ctx, r, token, payment)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close() // it is read below
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return answer{}, &url.Error{Op: r.method, URL: c.base.String() + r.path, Err: err} // as if it had not responded
	}
	if len(body) > maxAnswer {
		return answer{}, fmt.Errorf("%s %s: the answer is larger than %d bytes", r.method, r.path, maxAnswer)
	}
	return answer{res.StatusCode, res.Header, body}, nil
}

// open sends r and returns the response with its body unread.
func (c *Client) open(ctx context.Context, r request, token, payment string) (*http.Response, error) {
	u := c.base.String() + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, body)
	if err != nil {
		return nil, err
	}
	if r.header != nil {
		req.Header = r.header.Clone()
	} else {
		req.Header.Set("Accept", orJSON(r.accept))
	}
	req.Header.Set("User-Agent", c.agent)
	if r.body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", orJSON(r.contentType))
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if payment != "" {
		req.Header.Set("PAYMENT-SIGNATURE", payment)
	}
	return c.http.Do(req)
}

func orJSON(mediaType string) string {
	if mediaType == "" {
		return "application/json"
	}
	return mediaType
}

// send sends r, with a token if it needs one. A token that the service rejects is
// replaced once.
func (c *Client) send(ctx context.Context, r request, payment string) (answer, error) {
	if !r.bearer {
		return c.try(ctx, r, "", payment)
	}
	token, err := c.token(ctx, "")
	if err != nil {
		return answer{}, err
	}
	a, err := c.try(ctx, r, token, payment)
	if err != nil || a.status != http.StatusUnauthorized {
		return a, err
	}
	if token, err = c.token(ctx, token); err != nil {
		return answer{}, err
	}
	return c.try(ctx, r, token, payment)
}

// pause sleeps for d, or until the context is done.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
