package client

import (
	"context"

	"deed.example/deed/api"
)

// CreateWebhook has future events of the wallet sent to a URL. The result has the
// secret that messages are signed with; it is not shown again.
func (c *Client) CreateWebhook(ctx context.Context, url string) (api.Webhook, error) {
	return call[api.Webhook](ctx, c, request{method: "POST", path: "/account/webhooks", bearer: true}, api.WebhookRequest{URL: url})
}

// Webhooks returns the webhooks of the wallet, oldest first.
func (c *Client) Webhooks(ctx context.Context) (api.Webhooks, error) {
	return call[api.Webhooks](ctx, c, request{method: "GET", path: "/account/webhooks", bearer: true}, nil)
}

// DeleteWebhook deletes a webhook and its pending deliveries.
func (c *Client) DeleteWebhook(ctx context.Context, id string) (api.Deleted, error) {
	return call[api.Deleted](ctx, c, request{method: "DELETE", path: path("account", "webhooks", id), bearer: true}, nil)
}

// RotateWebhook gives a webhook a new secret and returns it. For a day, messages are
// signed with both secrets.
func (c *Client) RotateWebhook(ctx context.Context, id string) (api.Webhook, error) {
	return call[api.Webhook](ctx, c, request{method: "POST", path: path("account", "webhooks", id, "rotate"), bearer: true}, nil)
}

// TestWebhook sends a test message. If it is delivered, a disabled webhook is enabled
// again.
func (c *Client) TestWebhook(ctx context.Context, id string) (api.Delivery, error) {
	return call[api.Delivery](ctx, c, request{method: "POST", path: path("account", "webhooks", id, "test"), bearer: true}, nil)
}

// DeliveryPage returns a page of the deliveries of a webhook, newest first.
func (c *Client) DeliveryPage(ctx context.Context, id string, p Page) (api.Deliveries, error) {
	return call[api.Deliveries](ctx, c, request{method: "GET", path: path("account", "webhooks", id, "deliveries"), query: p.query(), bearer: true}, nil)
}

// ReplayDelivery sends an event to a webhook again, with the same id.
func (c *Client) ReplayDelivery(ctx context.Context, id, eventID string) (api.Delivery, error) {
	return call[api.Delivery](ctx, c, request{method: "POST", path: path("account", "webhooks", id, "deliveries", eventID, "replay"), bearer: true}, nil)
}

// CreateCalendar returns a new address of the wallet's calendar feed, which replaces
// the previous one. It is not shown again.
func (c *Client) CreateCalendar(ctx context.Context) (api.Calendar, error) {
	return call[api.Calendar](ctx, c, request{method: "POST", path: "/account/calendar", bearer: true}, nil)
}

// Calendar returns when the wallet's calendar feed was created.
func (c *Client) Calendar(ctx context.Context) (api.Calendar, error) {
	return call[api.Calendar](ctx, c, request{method: "GET", path: "/account/calendar", bearer: true}, nil)
}

// DeleteCalendar deletes the wallet's calendar feed.
func (c *Client) DeleteCalendar(ctx context.Context) (api.Deleted, error) {
	return call[api.Deleted](ctx, c, request{method: "DELETE", path: "/account/calendar", bearer: true}, nil)
}
