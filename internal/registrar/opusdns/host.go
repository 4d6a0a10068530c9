package opusdns

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"

	"deed.example/deed"
)

// A hostRequest creates a host, or replaces its addresses.
type hostRequest struct {
	Hostname  string   `json:"hostname,omitempty"`
	Addresses []string `json:"ip_addresses"`
}

// maxAddresses bounds the addresses of one host.
const maxAddresses = 13

// SetHost implements registrar.HostManager.
func (b *Backend) SetHost(ctx context.Context, host string, addrs []netip.Addr) error {
	host, err := deed.ParseHost(host)
	if err != nil {
		return err
	}
	if len(addrs) == 0 || len(addrs) > maxAddresses {
		return deed.Invalid("addresses", "must be 1 to %d, not %d", maxAddresses, len(addrs))
	}
	in := hostRequest{Hostname: host}
	for _, a := range addrs {
		if a = a.Unmap(); !a.IsValid() || a.Zone() != "" {
			return deed.Invalid("addresses", "%s is not the address of a host", deed.Quoted(a.String()))
		}
		in.Addresses = append(in.Addresses, a.String())
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: "/v1/hosts", in: in}, nil)
	if p := refusal(err); p != nil && p.is(codeHostExists) {
		in.Hostname = ""
		err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPut, path: hostPath(host), in: in}, nil)
	}
	if err != nil {
		return b.hostError("set host "+host, host, err)
	}
	return nil
}

// DeleteHost implements registrar.HostManager.
func (b *Backend) DeleteHost(ctx context.Context, host string) error {
	host, err := deed.ParseHost(host)
	if err != nil {
		return err
	}
	if err := b.api.do(ctx, request{lane: orderLane, method: http.MethodDelete, path: hostPath(host)}, nil); err != nil {
		return b.hostError("delete host "+host, host, err)
	}
	return nil
}

func hostPath(host string) string { return "/v1/hosts/" + url.PathEscape(host) }

func (b *Backend) hostError(doing, host string, err error) error {
	switch p := refusal(err); {
	case p == nil:
		return b.unknown(doing, err)
	case p.is(codeHostNotFound, codeParentNotFound):
		return deed.Errorf(deed.CodeNotFound, "%s does not exist, or its name is not in our account", host)
	case p.status == http.StatusNotFound:
		return b.unknown(doing, err)
	default:
		return &deed.Error{
			Code: deed.CodeValidation, Message: host + " cannot be changed like this now", Err: p,
			Details: []deed.Detail{{Field: "host", Reason: "a name uses it, or the registry has no hosts"}},
		}
	}
}
