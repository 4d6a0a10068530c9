package chain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"

	"deed.example/deed/internal/tracing"
	"deed.example/deed/internal/urlerror"
)

// requestPlain calls one endpoint once, verified or not.
func (c *Client) requestPlain(ctx context.Context, e *endpoint, out any, method string, params ...any) error {
	body, err := encodeCall(method, params)
	if err != nil {
		return err
	}
	return c.post(ctx, e, out, method, body)
}

func encodeCall(method string, params []any) ([]byte, error) {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  []any  `json:"params"`
	}{"2.0", 1, method, params})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	return body, nil
}

var errLargeResponse = errors.New("the response is too large")

// post sends one request to an endpoint and decodes the response.
func (c *Client) post(ctx context.Context, e *endpoint, out any, method string, body []byte) (err error) {
	ctx, end := tracing.Start(ctx, method, attribute.Int("deed.rpc.endpoint", e.number))
	defer func() { end(err) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the endpoint's address is malformed") // not the address itself: it may hold a key
	}
	req.Header.Set("Content-Type", "application/json")
	// Every call may be made twice. With this key, which is not sent, a request on a
	// connection that the endpoint has closed meanwhile is repeated on another.
	req.Header["Idempotency-Key"] = nil
	c.endpoints.calls.Add(1)
	res, err := c.endpoints.http.Do(req)
	if err != nil {
		return urlerror.Cause(err)
	}
	defer res.Body.Close() // it is read below, or not wanted
	if res.StatusCode != http.StatusOK {
		err := fmt.Errorf("the endpoint responded with status %d", res.StatusCode)
		if res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 {
			return &busyError{cause: err, after: retryAfter(res.Header.Get("Retry-After"))}
		}
		return err
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, c.MaxResponse))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fmt.Errorf("%w: more than %d bytes", errLargeResponse, c.MaxResponse)
	}
	if err != nil {
		return err
	}
	var result struct {
		Result jsontext.Value `json:"result"`
		Error  *RemoteError   `json:"error"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return fmt.Errorf("decode the response: %w", err)
	}
	if result.Error == nil {
		return c.decode(e, result.Result, out)
	}
	if result.Error.rateLimited(method) {
		return &busyError{cause: result.Error}
	}
	return result.Error
}

// decode decodes a result, and refuses a block that is not plausible, or too old to be the
// newest one.
func (c *Client) decode(e *endpoint, raw jsontext.Value, out any) error {
	if err := decodeResult(raw, out); err != nil {
		return err
	}
	switch b := out.(type) {
	case **block:
		if *b != nil {
			return c.endpoints.checkPlausible(**b)
		}
	case *newestBlock:
		if err := c.endpoints.checkPlausible(block(*b)); err != nil {
			return err
		}
		return c.endpoints.observeNewest(e, time.Unix(int64(b.Time), 0))
	}
	return nil
}

// decodeResult decodes a result into what out points to. A result that is missing or null
// says nothing, except where it may: then out points to a pointer.
func decodeResult(raw jsontext.Value, out any) error {
	absent := raw.Kind() == 'n' && reflect.TypeOf(out).Elem().Kind() == reflect.Pointer
	if len(raw) == 0 || raw.Kind() == 'n' && !absent {
		return errors.New("the response has no result")
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("decode the response: %w", err)
	}
	return nil
}

// retryAfter parses the header's seconds. Dates are rare, and count as no value.
func retryAfter(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}
