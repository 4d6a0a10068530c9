package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
)

// useEverything makes the calls of an owner.
func useEverything(t *testing.T, c *client.Client) {
	t.Helper()
	for _, name := range []string{"plan-one.com", "plan-two.com", "plan-three.com"} {
		if err := buyName(t, c, name); err != nil {
			t.Fatal(err)
		}
	}
	calls := ownerCalls{t, c}
	calls.read("plan-one.com")
	calls.changeZone("plan-one.com")
	calls.changeName("plan-one.com")
	calls.listen()
	calls.order("plan-four.com", "plan-five.com")
	calls.end("plan-one.com", "plan-two.com", "plan-three.com")
}

// ownerCalls are calls of an owner, none of which fails.
type ownerCalls struct {
	t *testing.T
	*client.Client
}

func (c ownerCalls) try(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
}

// read reads a name and the lists of the wallet.
func (c ownerCalls) read(name string) {
	c.t.Helper()
	ctx := c.t.Context()
	_, err := c.Records(ctx, name, client.RecordFilter{})
	c.try("records", err)
	_, err = c.Revisions(ctx, name)
	c.try("revisions", err)
	_, err = c.Propagation(ctx, name)
	c.try("propagation", err)
	_, err = c.Domain(ctx, name)
	c.try("name", err)
	_, err = c.RDAP(ctx, name)
	c.try("RDAP", err)
	_, err = c.RDAPNameserver(ctx, "ns1.deed.example")
	c.try("RDAP of a server", err)
	_, err = c.Search(ctx, "plan")
	c.try("search", err)
	_, err = c.Check(ctx, name)
	c.try("check", err)
	_, err = c.Account(ctx)
	c.try("account", err)
	for _, f := range []client.DomainFilter{{}, {Status: "active"}, {ExpiringWithinDays: 30}} {
		_, err = c.DomainPage(ctx, f, client.Page{Limit: 1})
		c.try("names", err)
	}
	_, err = c.TransactionPage(ctx, client.Page{Limit: 1})
	c.try("transactions", err)
	_, err = c.EventPage(ctx, "", 10)
	c.try("events", err)
	_, err = c.Health(ctx)
	c.try("health", err)
}

// changeZone makes each change of a zone.
func (c ownerCalls) changeZone(name string) {
	c.t.Helper()
	ctx := c.t.Context()
	rec, err := c.AddRecord(ctx, name, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.1"})
	c.try("add", err)
	_, err = c.UpdateRecord(ctx, name, rec.ID, api.RecordUpdate{Value: new("192.0.2.2")})
	c.try("update", err)
	_, err = c.ImportZone(ctx, name, []byte("www 300 IN A 192.0.2.3\n"), client.Import{Replace: true})
	c.try("import", err)
	_, err = c.ExportZone(ctx, name)
	c.try("export", err)
	all, err := c.Revisions(ctx, name)
	c.try("revisions", err)
	if len(all.Revisions) > 1 {
		_, err = c.Rollback(ctx, name, all.Revisions[1].Revision, false)
		c.try("rollback", err)
	}
	list, err := c.Records(ctx, name, client.RecordFilter{})
	c.try("records", err)
	for _, rec := range list.Records {
		_, err = c.DeleteRecord(ctx, name, rec.ID)
		c.try("delete", err)
	}
}

// changeName makes the changes of a name that its owner may make.
func (c ownerCalls) changeName(name string) {
	c.t.Helper()
	ctx := c.t.Context()
	o, err := c.Renew(ctx, api.RenewRequest{Domain: name})
	if err == nil && o.Done == nil {
		_, err = c.WaitJob(ctx, o.JobID)
	}
	c.try("renew", err)
	for _, locked := range []bool{false, true} {
		_, err = c.SetLock(ctx, name, locked)
		c.try("lock", err)
	}
	_, err = c.SetNameservers(ctx, name, "ns1.example.net", "ns2.example.net")
	c.try("name servers", err)
	_, err = c.SetNameservers(ctx, name)
	c.try("our name servers", err)
	_, err = c.AutoRenew(ctx, name, 2, nil)
	c.try("mandates", err)
	_, err = c.RevokeMandates(ctx, name, "")
	c.try("revoke mandates", err)
	_, err = c.Registrant(ctx, name)
	c.try("registrant", err)
}

// order transfers a name in, and orders one that is not delivered and refunded.
func (c ownerCalls) order(elsewhere, refused string) {
	c.t.Helper()
	ctx := c.t.Context()
	there, err := c.Elsewhere(ctx, api.ElsewhereRequest{Domain: elsewhere})
	c.try("elsewhere", err)
	o, err := c.Transfer(ctx, api.TransferRequest{Domain: elsewhere, AuthCode: there.AuthCode})
	if err == nil && o.Done == nil {
		_, err = c.DecideTransfer(ctx, api.DecisionRequest{Domain: elsewhere, Approve: new(true)})
		c.try("approve", err)
		_, err = c.WaitJob(ctx, o.JobID)
	}
	c.try("transfer", err)
	_, err = c.ResetLimits(ctx)
	c.try("limits", err)
	_, err = c.SetFaults(ctx, api.FaultsRequest{Registrar: "refuse", Times: new(1)})
	c.try("fault", err)
	if err := buyName(c.t, c.Client, refused); client.CodeOf(err) != string(deed.CodeRegistrationFailed) {
		c.t.Errorf("got %v, want that the registry refuses it", err)
	}
}

// listen uses what tells the owner of events.
func (c ownerCalls) listen() {
	c.t.Helper()
	ctx := c.t.Context()
	received := make(chan bool, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case received <- true:
		default: // it was told before
		}
	}))
	c.t.Cleanup(receiver.Close)
	hook, err := c.CreateWebhook(ctx, receiver.URL)
	c.try("webhook", err)
	_, err = c.TestWebhook(ctx, hook.ID)
	c.try("test the webhook", err)
	select {
	case <-received: // so what reads due deliveries has been sent
	case <-time.After(time.Minute):
		c.t.Error("the webhook received nothing")
	}
	_, err = c.Webhooks(ctx)
	c.try("webhooks", err)
	_, err = c.DeliveryPage(ctx, hook.ID, client.Page{Limit: 1})
	c.try("deliveries", err)
	_, err = c.RotateWebhook(ctx, hook.ID)
	c.try("rotate the secret", err)
	_, err = c.DeleteWebhook(ctx, hook.ID)
	c.try("delete the webhook", err)
	_, err = c.CreateCalendar(ctx)
	c.try("calendar", err)
	_, err = c.Calendar(ctx)
	c.try("the calendar", err)
	_, err = c.DeleteCalendar(ctx)
	c.try("delete the calendar", err)
}

// end ends the ownership of three names: one expires, one is cancelled, one is handed over.
func (c ownerCalls) end(expires, cancelled, handedOver string) {
	c.t.Helper()
	ctx := c.t.Context()
	_, err := c.Cancel(ctx, cancelled, false)
	c.try("cancel", err)
	_, err = c.SetOwner(ctx, handedOver, "0x00000000000000000000000000000000000000aa")
	c.try("hand over", err)
	_, err = c.Revoke(ctx)
	c.try("sign out", err)
	_, err = c.AdvanceClock(ctx, "26280h") // three years
	c.try("expire "+expires, err)
}
