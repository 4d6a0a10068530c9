package main

import (
	"crypto/ecdsa"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
)

// A rival is one of two changes that exclude each other, each paid for by a
// wallet of its own.
type rival struct {
	key            *ecdsa.PrivateKey
	order, payment string
	status         int
	body           string
}

const rivalsMoney = "1000.00"

// rivals pays for two changes of one host.
func rivals(t *testing.T, n *node, host string) [2]*rival {
	t.Helper()
	var pair [2]*rival
	for i, order := range []string{`{"type":"A","host":%q,"value":"192.0.2.10"}`, `{"type":"CNAME","host":%q,"value":"other.example"}`} {
		r := &rival{key: newKey(t), order: fmt.Sprintf(order, host)}
		n.faucet(t, r.key, rivalsMoney)
		r.payment, _ = n.payment(t, r.key, recordCase.path, r.order)
		pair[i] = r
	}
	return pair
}

// faucet gives a wallet money, and returns what it has then.
func (n *node) faucet(t *testing.T, key *ecdsa.PrivateKey, amount string) string {
	t.Helper()
	var got api.Faucet
	wallet := api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex(), Amount: amount}
	if status := n.call(t, "POST", "/sandbox/faucet", "", wallet, &got); status != 200 {
		t.Fatalf("the faucet: got %d", status)
	}
	return got.Balance
}

// killInRefund lets a server die while it gives the money of a change back that
// was paid for and could not be made, starts it again, and wants that one of two
// rivals is made and the other has its money again, once.
func killInRefund(t *testing.T, point string, environ ...string) {
	t.Helper()
	path, err := failpointBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir, owner, site := t.TempDir(), newKey(t), slices.Clone(environ)
	killed := startBinary(t, path, dir, append(site, "FAILPOINT="+point)...)
	buyNames(t, killed, owner)
	killed.token = killed.signIn(t, owner).AccessToken
	var pair [2]*rival
	for try := 0; ; try++ { // a rival that comes when the other is made is refused before it pays
		pair = rivals(t, killed, fmt.Sprintf("www%d", try))
		var wg sync.WaitGroup
		for _, r := range pair {
			wg.Go(func() { r.status, r.body = killed.send(t, recordCase.path, r.order, r.payment) })
		}
		wg.Wait()
		if slices.ContainsFunc(pair[:], func(r *rival) bool { return r.status != 201 && r.status != 400 }) {
			break // it died, or is about to
		}
		if try == 20 {
			t.Fatalf("no rival came second: got %d %s, %d %s", pair[0].status, pair[0].body, pair[1].status, pair[1].body)
		}
	}
	if err := killed.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it did not die at %q: %v %s", point, err, killed.log)
	}
	n := start(t, dir, append(site, "DEED_PUBLIC_URL="+killed.callers, "DEED_LIMITS_DNS=100000")...)
	n.token = killed.token
	var seen []string
	for _, r := range pair {
		waitFor(t, func() bool {
			r.status, r.body = n.send(t, recordCase.path, r.order, r.payment)
			return r.status == 201 || r.status == 500 && strings.Contains(r.body, `"confirmed"`)
		})
		seen = append(seen, fmt.Sprintf("%d %s", r.status, n.faucet(t, r.key, "1.00")))
	}
	slices.Sort(seen)
	if want := []string{"201 1000.90", "500 1001.00"}; !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	n.audit(t, dir, environ, "1 refunds of 0.10 USDC", "0 payments and jobs are open")
	n.stop(t)
}

// A server killed while it gives the money of a change back gives it back once;
// every point on both databases: make long.
func TestKillNineInARefundOfTheDNS(t *testing.T) {
	t.Parallel()
	killInRefund(t, "payment: money returned")
}
