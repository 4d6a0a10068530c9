package client

import (
	"context"

	"deed.example/deed/api"
)

// Sandbox describes the embedded chain, registry and name server. It fails with
// CodeNotFound if the service is not a sandbox.
func (c *Client) Sandbox(ctx context.Context) (api.Sandbox, error) {
	return call[api.Sandbox](ctx, c, request{method: "GET", path: "/sandbox"}, nil)
}

// Faucet sends test USDC to a wallet.
func (c *Client) Faucet(ctx context.Context, in api.FaucetRequest) (api.Faucet, error) {
	return call[api.Faucet](ctx, c, request{method: "POST", path: "/sandbox/faucet"}, in)
}

// AdvanceClock moves the clock of the registry and of expiry forward, by "36h"
// or "400d".
func (c *Client) AdvanceClock(ctx context.Context, by string) (api.Clock, error) {
	return call[api.Clock](ctx, c, request{method: "POST", path: "/sandbox/clock"}, api.ClockRequest{Advance: by})
}

// AdvanceAllClocks is AdvanceClock, and also moves the clock of the embedded chain by
// the same time. Wallets that sign by their own clock can no longer pay then, only
// mandates can.
func (c *Client) AdvanceAllClocks(ctx context.Context, by string) (api.Clock, error) {
	return call[api.Clock](ctx, c, request{method: "POST", path: "/sandbox/clock"}, api.ClockRequest{Advance: by, Chain: true})
}

// ResetLimits gives every caller of a sandbox a fresh window of every limit.
func (c *Client) ResetLimits(ctx context.Context) (api.LimitsReset, error) {
	return call[api.LimitsReset](ctx, c, request{method: "POST", path: "/sandbox/limits/reset"}, nil)
}

// SetFaults injects faults into the embedded registry.
func (c *Client) SetFaults(ctx context.Context, in api.FaultsRequest) (api.SandboxFaults, error) {
	return call[api.SandboxFaults](ctx, c, request{method: "POST", path: "/sandbox/faults"}, in)
}

// Elsewhere registers a name at another registrar and returns its auth code. With
// an auth code, it starts the transfer of a name to another registrar.
func (c *Client) Elsewhere(ctx context.Context, in api.ElsewhereRequest) (api.Elsewhere, error) {
	return call[api.Elsewhere](ctx, c, request{method: "POST", path: "/sandbox/elsewhere"}, in)
}

// DecideTransfer approves or rejects a pending transfer at the embedded registry.
func (c *Client) DecideTransfer(ctx context.Context, in api.DecisionRequest) (api.Elsewhere, error) {
	return call[api.Elsewhere](ctx, c, request{method: "POST", path: "/sandbox/transfers"}, in)
}
