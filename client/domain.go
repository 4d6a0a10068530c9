package client

import (
	"context"

	"deed.example/deed/api"
)

// Domain returns a name that the service holds.
func (c *Client) Domain(ctx context.Context, name string) (api.Domain, error) {
	return call[api.Domain](ctx, c, request{method: "GET", path: path("domains", name)}, nil)
}

// AuthCode unlocks a name of ours and returns the code with which another
// registrar takes it over.
func (c *Client) AuthCode(ctx context.Context, name string) (api.AuthCode, error) {
	return call[api.AuthCode](ctx, c, request{method: "POST", path: path("domains", name, "authcode"), bearer: true}, nil)
}

// SetLock locks a name of ours against transfers, or unlocks it.
func (c *Client) SetLock(ctx context.Context, name string, locked bool) (api.Domain, error) {
	return c.setDomain(ctx, name, "lock", api.LockRequest{Locked: &locked})
}

// SetNameservers has other servers answer for a name of ours. None brings it
// back to the service's own.
func (c *Client) SetNameservers(ctx context.Context, name string, servers ...string) (api.Domain, error) {
	if servers == nil {
		servers = []string{}
	}
	return c.setDomain(ctx, name, "nameservers", api.NameserversRequest{Nameservers: servers})
}

// SetOwner hands a name of ours to another wallet. Only that wallet can hand it
// back.
func (c *Client) SetOwner(ctx context.Context, name, wallet string) (api.Domain, error) {
	return c.setDomain(ctx, name, "owner", api.OwnerRequest{WalletAddress: wallet})
}

func (c *Client) setDomain(ctx context.Context, name, what string, in any) (api.Domain, error) {
	return call[api.Domain](ctx, c, request{method: "PUT", path: path("domains", name, what), bearer: true}, in)
}
