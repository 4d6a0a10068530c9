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

// AgentCard returns the service's A2A card, as JSON.
func (c *Client) AgentCard(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/.well-known/agent-card.json", "")
}

// OpenAPI returns the description of every path, as JSON.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/openapi.json", "")
}

// RDAP returns what the registration data protocol says of a name that the
// service holds, as JSON (RFC 9083).
func (c *Client) RDAP(ctx context.Context, domain string) ([]byte, error) {
	return c.document(ctx, path("rdap", "domain", domain), "application/rdap+json")
}

func (c *Client) document(ctx context.Context, path, accept string) ([]byte, error) {
	a, err := c.do(ctx, request{method: "GET", path: path, accept: accept})
	return a.body, err
}
