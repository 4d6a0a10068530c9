package client

import (
	"context"
	"errors"
	"net/http"

	"deed.example/deed/api"
)

// Health returns the state of the service. A service that is down says so in a
// Health, too; an error means that it did not answer.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	a, err := c.do(ctx, request{method: "GET", path: "/health"})
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusServiceUnavailable && e.Code != "" {
		err = nil
	}
	if err != nil {
		return api.Health{}, err
	}
	return read[api.Health](a)
}

// Live returns nil when the process behind the address runs, whatever the state
// of its parts.
func (c *Client) Live(ctx context.Context) error {
	_, err := c.do(ctx, request{method: "GET", path: "/livez"})
	return err
}

// Ready returns nil when requests may be sent to the process behind the address.
// It fails with CodeUnavailable while that starts or stops, and while its
// database does not answer.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.do(ctx, request{method: "GET", path: "/readyz"})
	return err
}

// AgentCard returns the service's A2A card, as JSON.
func (c *Client) AgentCard(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/.well-known/agent-card.json", "")
}

// OpenAPI returns the description of every path, as JSON.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/openapi.json", "")
}

const mediaRDAP = "application/rdap+json"

// RDAP returns what the registration data protocol says of a name that the
// service holds, as JSON (RFC 9083).
func (c *Client) RDAP(ctx context.Context, domain string) ([]byte, error) {
	return c.document(ctx, path("rdap", "domain", domain), mediaRDAP)
}

// RDAPNameserver returns the same of a name server: one of the service's own, or
// one that stands below a name that it holds.
func (c *Client) RDAPNameserver(ctx context.Context, host string) ([]byte, error) {
	return c.document(ctx, path("rdap", "nameserver", host), mediaRDAP)
}

// RDAPHelp returns what the service says of its registration data.
func (c *Client) RDAPHelp(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/rdap/help", mediaRDAP)
}

func (c *Client) document(ctx context.Context, path, accept string) ([]byte, error) {
	a, err := c.do(ctx, request{method: "GET", path: path, accept: accept})
	return a.body, err
}
