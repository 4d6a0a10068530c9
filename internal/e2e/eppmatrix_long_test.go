//go:build long

package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// A matrixOrder is an order of the matrix of faults.
type matrixOrder struct {
	path, body string
	price      deed.USDC
	steps      []string // its commands
}

// matrixFaults are the faults that every command has. A registry may refuse a command
// for now (2400, 2502), and that says nothing about the order.
var matrixFaults = []epptest.Fault{
	{Kind: epptest.CutBefore}, {Kind: epptest.CutInside}, {Kind: epptest.CutAfter}, {Kind: epptest.OtherTRID},
	{Kind: epptest.Refuse, Code: 2400}, {Kind: epptest.Refuse, Code: 2502}, {Kind: epptest.Deny, Code: 2400}, {Kind: epptest.Slow}, {Kind: epptest.Silent},
}

// matrixOrder prepares an order for the name.
func (e eppEnv) matrixOrder(t *testing.T, kind string, name deed.Name) matrixOrder {
	t.Helper()
	switch kind {
	case "renew":
		e.bought(t, string(name))
		return matrixOrder{"/domains/renew", fmt.Sprintf(`{"domain":%q,"years":1}`, name), comRenewal, []string{"info", "check", "renew"}}
	case "transfer":
		code, err := e.outside.Elsewhere(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return matrixOrder{"/domains/transfer", fmt.Sprintf(`{"domain":%q,"authCode":%q}`, name, code.Reveal()), e.transferPrice(t), []string{"check", "transfer request", "transfer query", "info"}}
	}
	return matrixOrder{"/domains/register", fmt.Sprintf(`{"domain":%q}`, name), comPrice, []string{"check", "create", "update", "info"}}
}

// Whatever goes wrong with whichever command of an order, its buyer gets the name once
// and pays once, and the registry sells it once.
func TestEPPFaultMatrix(t *testing.T) {
	count := 0
	for _, kind := range []string{"register", "renew", "transfer"} {
		e := openEPPEnv(t, nil, func(c *app.Config) { c.Registrars[0].Values["timeout"] = "3s" })
		for _, step := range e.matrixOrder(t, kind, deed.Name(kind+".com")).steps {
			for _, f := range matrixFaults {
				count++
				name := deed.Name(fmt.Sprintf("fault-%d.com", count))
				t.Run(fmt.Sprint(kind, ", ", step, ", ", f.Kind, " ", f.Code), func(t *testing.T) {
					f.Times, f.Only = 1, []string{step}
					e.meetsFault(t, kind, name, f)
				})
			}
		}
		e.audit(t)
	}
	t.Logf("%d combinations of order, command and fault", count)
}

func (e eppEnv) meetsFault(t *testing.T, kind string, name deed.Name, f epptest.Fault) {
	t.Helper()
	o := e.matrixOrder(t, kind, name)
	buyer, spent := e.buyer(t), e.server.Spent()
	payment := e.promise(buyer, o.price).header(t)
	e.server.Break(f)
	defer e.server.Break(epptest.Fault{})
	for range 60 { // before money moves, a fault is an answer that says to try again
		got := e.do(t, "POST", o.path, o.body, "PAYMENT-SIGNATURE", payment)
		if slices.Contains([]int{200, 201, 202}, got.status) {
			break
		}
		if got.status != 503 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		time.Sleep(50 * time.Millisecond) // sessions are opened again by the clock of the machine
	}
	if kind == "transfer" {
		e.approve(t, name)
	}
	e.runWorker(t)
	if e.server.Unmet() {
		t.Errorf("the order never sent %v", f.Only)
	}
	e.get(t, "/domains/"+string(name)).expect(t, 200, "")
	e.holds(t, name)
	if got := e.balance(t, common.HexToAddress(string(buyer.wallet))); got != 1_000_000_000-o.price {
		t.Errorf("the buyer has %s after a price of %s", got, o.price)
	}
	if got := e.server.Spent() - spent; kind != "transfer" && got != 10_000_000 {
		t.Errorf("the registry charged %s for a year", got)
	}
}
