package app

import (
	"net/netip"
	"net/url"
	"time"

	"deed.example/deed/internal/hook"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/webhook"
	"deed.example/deed/internal/worker"
)

// newWebhooks returns the service behind /account/webhooks, and sets the dispatcher
// that sends what is due.
func (a *App) newWebhooks(base *url.URL) *webhook.Service {
	store := sqldb.Webhooks{DB: a.DB, Now: a.now}
	var c hook.Config
	if a.config.WebhooksAllowLocal {
		c.Allow = func(netip.Addr) bool { return true }
	}
	a.Webhooks = &webhook.Dispatcher{
		Queue: store, Sender: countingSender{hook.New(c), a.metrics.WebhookSent}, Source: base.JoinPath("account", "events").String(), Now: a.now,
		OnError: func(err error) { a.log.Error("cannot deliver webhooks", "err", err) },
	}
	return &webhook.Service{Store: store, Deliveries: store, AllowLocal: a.config.WebhooksAllowLocal, Now: a.now}
}

// webhookTasks returns the dispatcher, which runs until the worker stops, and the
// deletion of old deliveries.
func (a *App) webhookTasks() []worker.Task {
	store := sqldb.Webhooks{DB: a.DB, Now: a.now}
	return []worker.Task{
		{Name: "webhooks", Interval: time.Second, Run: a.Webhooks.Run},
		{Name: "old deliveries", Interval: time.Hour, Run: store.Prune},
	}
}
