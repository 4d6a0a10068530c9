package e2e_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// Two wallets pay for the restore of a name before the registry has executed an order. The
// name is restored once, so one payment, which has the fee of a restore in it, is refunded.
func TestRestorePaidTwice(t *testing.T) {
	e := openEPPEnv(t, nil, func(c *app.Config) { c.RequestWait = 100 * time.Millisecond })
	owner := e.buyer(t)
	e.register(t, "first.com", e.promise(owner, comPrice).header(t))
	e.runWorker(t)
	paid := e.domain(t, "first.com").ExpiresAt
	price := mustUSDC(t, e.until(t, paid.AddDate(0, 0, 50)).Grace.Price)
	e.server.Break(epptest.Fault{Kind: epptest.CutBefore, Times: 1_000_000, Only: []string{"restore request"}})
	var orders []api.PendingOrder
	for range 2 {
		got := e.renew(t, "first.com", 1, e.promise(e.buyer(t), price).header(t))
		var o api.PendingOrder
		if err := json.Unmarshal([]byte(got.body), &o); err != nil || got.status != 202 {
			t.Fatalf("got %d %s, %v", got.status, got.body, err)
		}
		orders = append(orders, o)
	}
	e.server.Break(epptest.Fault{})
	e.runWorker(t)
	e.told(t)
	count := map[string]int{}
	for _, o := range orders {
		j := job(t, e.service, o.JobID)
		if count[j.Status]++; j.Status == "failed" && (j.Refund == nil || j.Refund.Amount != price.String()) {
			t.Errorf("got %+v", j)
		}
	}
	if count["completed"] != 1 || count["failed"] != 1 {
		t.Errorf("got %v", count)
	}
	expectDomain(t, "restored", e.domain(t, "first.com"), "active", paid.AddDate(1, 0, 0), "renewed")
	e.audit(t)
}
