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

// patience is how long one try may take. The service itself waits 8 seconds for
// a registry at the most.
const patience = 30 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 16 << 20

// A request is one call, in a form that can be sent again.
type request struct {
	method, path string // the path is escaped
	query        url.Values
	header       http.Header // besides those that follow from the rest
	body         []byte
	contentType  string  // of the body; "": JSON
	accept       string  // "": JSON
	bearer       bool    // it needs a token
	paid         bool    // it may cost money
	maxPrice     *string // what this call may cost; nil: what the client may pay
}

// answer is what came back, whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// path joins parts that may hold any character.
func path(parts ...string) string {
	out := ""
	for _, p := range parts {
		out += "/" + url.PathEscape(p)
	}
	return out
}

// call makes a call with a JSON body, unless in is nil, and reads a JSON answer.
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
	if err := json.Unmarshal(a.body, &out); err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	return out, nil
}

// try sends r once, with a payment unless it is "". The error is of the network.
func (c *Client) try(ctx context.Context, r request, token, payment string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := c.open(ctx, r, token, payment)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close() // it is read below
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if len(body) > maxAnswer {
		return answer{}, fmt.Errorf("%s %s: the answer is larger than %d bytes", r.method, r.path, maxAnswer)
	}
	return answer{res.StatusCode, res.Header, body}, nil
}

// open sends r and returns the answer before its body is read.
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

// send sends r, signed in where it must be. A token that the service does not
// take any more is replaced once.
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

// pause waits, unless the context ends first.
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
