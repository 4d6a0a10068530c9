package client

import (
	"context"
	"errors"
	"net/http"

	"deed.example/deed/api"
)

// Health returns the state of the service, even if it is down; an error means that
// it did not respond.
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

// Live returns nil if the process runs, whatever the state of its dependencies.
func (c *Client) Live(ctx context.Context) error {
	_, err := c.do(ctx, request{method: "GET", path: "/livez"})
	return err
}

// Ready returns nil if the process accepts requests. It fails with
// CodeUnavailable while the process starts or stops, and while its database is
// down.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.do(ctx, request{method: "GET", path: "/readyz"})
	return err
}

// AgentCard returns the service's A2A card, as JSON.
func (c *Client) AgentCard(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/.well-known/agent-card.json", "")
}

// OpenAPI returns the OpenAPI description, as JSON.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/openapi.json", "")
}

const mediaRDAP = "application/rdap+json"

// RDAP returns the RDAP response for a registered name, as JSON (RFC 9083).
func (c *Client) RDAP(ctx context.Context, domain string) ([]byte, error) {
	return c.document(ctx, path("rdap", "domain", domain), mediaRDAP)
}

// RDAPNameserver returns the RDAP response for a name server: one of the
// service's own, or one within a registered name.
func (c *Client) RDAPNameserver(ctx context.Context, host string) ([]byte, error) {
	return c.document(ctx, path("rdap", "nameserver", host), mediaRDAP)
}

// RDAPHelp returns the RDAP help response.
func (c *Client) RDAPHelp(ctx context.Context) ([]byte, error) {
	return c.document(ctx, "/rdap/help", mediaRDAP)
}

func (c *Client) document(ctx context.Context, path, accept string) ([]byte, error) {
	a, err := c.do(ctx, request{method: "GET", path: path, accept: accept})
	return a.body, err
}
