package client

import (
	"context"

	"deed.example/deed/api"
)

// SetEmail sends a code to an e-mail address, which replaces the wallet's previous one.
func (c *Client) SetEmail(ctx context.Context, address string) (api.Email, error) {
	return call[api.Email](ctx, c, request{method: "PUT", path: "/account/email", bearer: true}, api.EmailRequest{Address: address})
}

// ConfirmEmail confirms the address with the code that was sent to it.
func (c *Client) ConfirmEmail(ctx context.Context, code string) (api.Email, error) {
	return call[api.Email](ctx, c, request{method: "POST", path: "/account/email/confirm", bearer: true}, api.EmailConfirmation{Code: code})
}

// Email returns the address of the wallet, abbreviated, and whether it is confirmed.
func (c *Client) Email(ctx context.Context) (api.Email, error) {
	return call[api.Email](ctx, c, request{method: "GET", path: "/account/email", bearer: true}, nil)
}

// DeleteEmail ends the notices by e-mail.
func (c *Client) DeleteEmail(ctx context.Context) (api.Deleted, error) {
	return call[api.Deleted](ctx, c, request{method: "DELETE", path: "/account/email", bearer: true}, nil)
}
