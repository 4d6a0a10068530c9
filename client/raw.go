package client

import (
	"context"
	"net/http"
	"net/url"
)

// A Raw is a call of the HTTP interface by its own words, for programs that hand
// calls on.
type Raw struct {
	Method  string
	Path    string // escaped
	Query   url.Values
	Body    []byte      // JSON; nil without one
	Header  http.Header // besides those that follow from the rest
	SignIn  bool        // it needs a token, and the client's own will do
	MayCost bool        // it may cost money, and the client may pay
}

// A RawAnswer is what the service answered.
type RawAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Raw makes a call under the rules of all others: it signs in, and pays below
// the cap. What the service refuses is an answer; an error means that there is
// none, or that the client did not pay.
func (c *Client) Raw(ctx context.Context, r Raw) (RawAnswer, error) {
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept", "application/json")
	a, err := c.do(ctx, request{method: r.Method, path: r.Path, query: r.Query, header: header, body: r.Body, bearer: r.SignIn, paid: r.MayCost})
	if a.status != 0 {
		err = nil // it said so itself
	}
	return RawAnswer{a.status, a.header, a.body}, err
}
