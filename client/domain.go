package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"deed.example/deed/api"
)

// dots are those that separate labels (IDNA2003, 3.1).
const dots = ".\u3002\uff0e\uff61"

// Domain returns a registered name.
func (c *Client) Domain(ctx context.Context, name string) (api.Domain, error) {
	if !strings.ContainsAny(name, dots) { // pricing would be another call
		return api.Domain{}, &Error{
			Status: http.StatusBadRequest, Code: CodeValidation, Title: "Invalid request",
			Message: fmt.Sprintf("domain: %q is not a domain name: write label and TLD and nothing else, such as example.com", name),
		}
	}
	return call[api.Domain](ctx, c, request{method: "GET", path: path("domains", name)}, nil)
}

// AuthCode unlocks a name of the wallet and returns the code for a transfer to
// another registrar.
func (c *Client) AuthCode(ctx context.Context, name string) (api.AuthCode, error) {
	return call[api.AuthCode](ctx, c, request{method: "POST", path: path("domains", name, "authcode"), bearer: true}, nil)
}

// Cancel cancels the registration of a name in its add grace period, or with dryRun
// returns what that would refund.
func (c *Client) Cancel(ctx context.Context, name string, dryRun bool) (api.Cancellation, error) {
	return call[api.Cancellation](ctx, c, request{method: "POST", path: path("domains", name, "cancel"), bearer: true}, api.CancelRequest{DryRun: dryRun})
}

// Registrant returns whose contact data a name of the wallet has at the registry.
func (c *Client) Registrant(ctx context.Context, name string) (api.Registrant, error) {
	return call[api.Registrant](ctx, c, request{method: "GET", path: path("domains", name, "registrant"), bearer: true}, nil)
}

// SetRegistrant makes the owner the registrant of a name of the wallet, where its
// registrar allows that. The data goes to the registry, and to nobody else.
func (c *Client) SetRegistrant(ctx context.Context, name string, contact api.Contact) (api.Registrant, error) {
	return call[api.Registrant](ctx, c, request{method: "PUT", path: path("domains", name, "registrant"), bearer: true}, contact)
}

// ResetRegistrant makes the operator's privacy service the registrant of a name of the
// wallet again, and has the owner's data erased.
func (c *Client) ResetRegistrant(ctx context.Context, name string) (api.Registrant, error) {
	return call[api.Registrant](ctx, c, request{method: "DELETE", path: path("domains", name, "registrant"), bearer: true}, nil)
}

// SetLock locks a name of the wallet against transfers, or unlocks it.
func (c *Client) SetLock(ctx context.Context, name string, locked bool) (api.Domain, error) {
	return c.setDomain(ctx, name, "lock", api.LockRequest{Locked: &locked})
}

// SetNameservers delegates a name of the wallet to other name servers, or to the
// service's own if none are given.
func (c *Client) SetNameservers(ctx context.Context, name string, servers ...string) (api.Domain, error) {
	return c.Delegate(ctx, name, api.NameserversRequest{Nameservers: api.Nameservers(servers...)})
}

// ForceNameservers is SetNameservers at once: a signed name does not wait until its DS
// has left all caches, and may be bogus for validating resolvers until then.
func (c *Client) ForceNameservers(ctx context.Context, name string, servers ...string) (api.Domain, error) {
	return c.Delegate(ctx, name, api.NameserversRequest{Nameservers: api.Nameservers(servers...), Force: true})
}

// Delegate sets the name servers of a name of the wallet. Those below the name itself
// need addresses.
func (c *Client) Delegate(ctx context.Context, name string, in api.NameserversRequest) (api.Domain, error) {
	return c.setDomain(ctx, name, "nameservers", in)
}

// SetDS sets the DS records of a name whose zone is served elsewhere. It fails while resolvers
// may still ask the service's own name servers.
func (c *Client) SetDS(ctx context.Context, name string, ds ...api.DS) (api.Domain, error) {
	return c.setDomain(ctx, name, "ds", api.DSRequest{DS: newDS(ds)})
}

// ForceDS sets them at once. A name that was served by the service may be bogus for resolvers
// that still ask its servers.
func (c *Client) ForceDS(ctx context.Context, name string, ds ...api.DS) (api.Domain, error) {
	return c.setDomain(ctx, name, "ds", api.DSRequest{DS: newDS(ds), Force: true})
}

// newDS returns DS records as a request has them.
func newDS(list []api.DS) []api.NewDS {
	out := make([]api.NewDS, len(list))
	for i, ds := range list {
		out[i] = api.NewDS{KeyTag: &ds.KeyTag, Algorithm: ds.Algorithm, DigestType: ds.DigestType, Digest: ds.Digest}
	}
	return out
}

// SetOwner transfers a name to another wallet. Only that wallet can undo it.
func (c *Client) SetOwner(ctx context.Context, name, wallet string) (api.Domain, error) {
	return c.setDomain(ctx, name, "owner", api.OwnerRequest{WalletAddress: wallet})
}

func (c *Client) setDomain(ctx context.Context, name, what string, in any) (api.Domain, error) {
	return call[api.Domain](ctx, c, request{method: "PUT", path: path("domains", name, what), bearer: true}, in)
}
