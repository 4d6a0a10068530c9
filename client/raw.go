package client

import (
	"context"
	"net/http"
	"net/url"
)

// A Raw is a plain call of the HTTP interface, for programs that forward calls.
type Raw struct {
	Method  string
	Path    string // escaped
	Query   url.Values
	Body    []byte      // JSON; nil without one
	Header  http.Header // additional headers
	SignIn  bool        // send the client's token
	MayCost bool        // the client may pay for it

	// Confirm is called before a payment for this call is signed, instead of the
	// client's function (WithConfirm), if it is set.
	Confirm func(ctx context.Context, o Offer) error
}

// A RawAnswer is the response to a Raw.
type RawAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Raw makes a call under the same rules as all others: it signs in, and pays
// within the limits. An error response is returned as an answer; an error means that
// there was no response, or that the client did not pay.
func (c *Client) Raw(ctx context.Context, r Raw) (RawAnswer, error) {
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept", "application/json")
	a, err := c.do(ctx, request{method: r.Method, path: r.Path, query: r.Query, header: header, body: r.Body, bearer: r.SignIn, paid: r.MayCost, confirm: r.Confirm})
	if a.status != 0 {
		err = nil // an error response is an answer here
	}
	return RawAnswer{a.status, a.header, a.body}, err
}
