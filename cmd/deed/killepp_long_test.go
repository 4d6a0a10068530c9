//go:build long

package main

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An outsideRegistry is an EPP registry in this process, and the settings of a service
// that sells .com from it.
type outsideRegistry struct {
	names   *local.Registry
	server  *epptest.Server
	environ []string
}

func openOutside(t *testing.T, database string) outsideRegistry {
	t.Helper()
	names := &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Now: time.Now}
	server := epptest.Start(t, epptest.Config{Registry: names})
	return outsideRegistry{names, server, append(databaseOf(t, database), "DEED_CONFIG="+eppFile(t, server.Addr(), ""))}
}

// killCase returns an order at the registry. The other registrar approves a transfer.
func (r outsideRegistry) killCase(kind string) killCase {
	switch kind {
	case "renew":
		return renewCase
	case "transfer":
		return killCase{
			path: "/domains/transfer", done: 201,
			prepare: func(t *testing.T, _ *node, _ *ecdsa.PrivateKey) (string, deed.USDC) {
				code, err := r.names.Elsewhere(t.Context(), "killed.com")
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf(`{"domain":"killed.com","authCode":%q}`, code.Reveal()), 0
			},
			decide: func() { _ = r.names.Decide(context.Background(), "killed.com", true) }, // it may come before the transfer, and is then made again
		}
	}
	return registerCase
}

// sold wants that the registry sold exactly one name, with the years that were paid for.
func (r outsideRegistry) sold(t *testing.T, kind string) {
	t.Helper()
	all, err := r.names.Holdings(t.Context(), "", 10)
	if err != nil || len(all) != 1 || all[0].Name != "killed.com" {
		t.Fatalf("the registry holds %+v, %v", all, err)
	}
	years := map[string]int{"register": 1, "renew": 2}[kind]
	if got, want := all[0].Expires, all[0].Created.AddDate(years, 0, 0); years > 0 && !got.Equal(want) {
		t.Errorf("it expires at %s, want %s", got, want)
	}
	kinds, repeated := r.server.Commands()
	if repeated > 0 {
		t.Errorf("%d identifiers were used twice in %v", repeated, kinds)
	}
	if spent := r.server.Spent(); years > 0 && spent != deed.USDC(years)*10_000_000 {
		t.Errorf("the registry charged %s for %d years", spent, years)
	}
}

// doneBy is the command that an order is done by at once.
var doneBy = map[string]string{"register": "create", "renew": "renew"}

// A server that is killed at any point of an order over EPP delivers it once.
func TestKillNineOverEPP(t *testing.T) {
	count := 0
	for _, database := range []string{"sqlite", "postgres"} {
		for _, kind := range []string{"register", "renew", "transfer"} {
			for _, point := range killPoints {
				count++
				t.Run(database+" "+kind+" "+point, func(t *testing.T) {
					t.Parallel()
					r := openOutside(t, database)
					if command := doneBy[kind]; point == "job: verifying" && command != "" { // an order that is known to be done is not verified later
						r.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: 1, Only: []string{command}})
					}
					killAt(t, r.killCase(kind), point, "", r.environ...)
					r.sold(t, kind)
				})
			}
		}
	}
	t.Logf("%d points", count)
}

// orderSteps are the commands of each order, after the payment.
var orderSteps = map[string][]string{
	"register": {"host create", "check", "create", "update", "info"},
	"renew":    {"info", "check", "renew"},
	"transfer": {"check", "transfer request", "transfer query", "info"},
}

// A server that is killed while a command is on its way, before or after the registry
// has executed it, delivers the order once.
func TestKillNineInEveryCommand(t *testing.T) {
	count := 0
	for kind, steps := range orderSteps {
		for _, step := range steps {
			for _, fault := range []epptest.Kind{epptest.Slow, epptest.Silent} {
				count++
				t.Run(fmt.Sprint(kind, ", ", step, ", ", fault), func(t *testing.T) {
					t.Parallel()
					r := openOutside(t, "sqlite")
					r.killInCommand(t, kind, epptest.Fault{Kind: fault, Times: 1, Only: []string{step}})
				})
			}
		}
	}
	t.Logf("%d commands", count)
}

// await waits until the worker of a server, which goes on with its order, has sent the
// command that the registry holds. The other registrar may have decided before it was
// asked, and decides again.
func (r outsideRegistry) await(t *testing.T, o killCase) {
	t.Helper()
	waitFor(t, func() bool {
		select {
		case <-r.server.Received:
			return true
		default:
			if o.decide != nil {
				o.decide()
			}
			return false
		}
	})
}

// killInCommand kills a server while the registry holds a command of its order, starts
// it again, and repeats the request until it is done.
func (r outsideRegistry) killInCommand(t *testing.T, kind string, f epptest.Fault) {
	t.Helper()
	o, dir, key, owner, site := r.killCase(kind), t.TempDir(), newKey(t), newKey(t), slices.Clone(r.environ)
	order, spent := registerBody, deed.USDC(0)
	killed := start(t, dir, site...)
	if o.prepare != nil {
		order, spent = o.prepare(t, killed, owner)
	}
	site = append(site, "DEED_PUBLIC_URL="+killed.callers)
	wallet := api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex(), Amount: "1000.00"}
	killed.call(t, "POST", "/sandbox/faucet", "", wallet, nil)
	payment, price := killed.payment(t, key, o.path, order)
	r.server.Break(f)
	answered := make(chan int, 1)
	go func() {
		status, _ := o.place(t, killed, order, payment)
		answered <- status
	}()
	select {
	case <-r.server.Received:
	case status := <-answered:
		if status != 202 {
			t.Fatalf("it answered %d and never sent %v: %s", status, f.Only, killed.log)
		}
		r.await(t, o)
	}
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it did not die: %v", err)
	}
	n := start(t, dir, site...)
	waitFor(t, func() bool {
		status, _ := o.place(t, n, order, payment)
		return status == o.done
	})
	wallet.Amount = "1.00"
	var got api.Faucet
	if n.call(t, "POST", "/sandbox/faucet", "", wallet, &got); got.Balance != (1_001_000_000 - price).String() {
		t.Errorf("a balance of %s after a price of %s", got.Balance, price)
	}
	n.audit(t, dir, r.environ, fmt.Sprintf("%d transfers of %s USDC", 1+min(spent, 1), price+spent), "0 refunds of 0.00 USDC", "0 payments and jobs are open")
	r.sold(t, kind)
	n.stop(t)
}
