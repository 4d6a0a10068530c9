package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle/signtest"
)

// failpointBinary builds the binary that dies at a failpoint, once.
var failpointBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "deed-failpoint")
	out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, nil
})

// payment makes a payment for what the server wants for an order, as an x402
// client would, and returns it with its amount.
func (n *node) payment(t *testing.T, key *ecdsa.PrivateKey, path, order string) (string, deed.USDC) {
	t.Helper()
	var offer api.PaymentRequired
	status := 0
	waitFor(t, func() bool {
		status = n.call(t, "POST", path, n.token, json.RawMessage(order), &offer)
		if status == 503 { // on a busy machine the chain may not answer in time
			time.Sleep(time.Second)
		}
		return status != 503
	})
	if status != 402 {
		t.Fatalf("the offer for %s: got %d", order, status)
	}
	want := offer.Accepts[0]
	value, _ := new(big.Int).SetString(want.MaxAmountRequired, 10)
	before := time.Now().Add(5 * time.Minute).Unix()
	var nonce [32]byte
	rand.Read(nonce[:]) // it never fails
	from := crypto.PubkeyToAddress(key.PublicKey)
	coin := signtest.Token{Name: want.Extra.Name, ChainID: devchain.ChainID, Address: common.HexToAddress(want.Asset)}
	sig := coin.Sign(key, signtest.Transfer, from, common.HexToAddress(want.PayTo), value, int64(0), before, nonce)
	header := base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		`{"x402Version":1,"scheme":"exact","network":%q,"payload":{"signature":"0x%s","authorization":{"from":%q,"to":%q,"value":%q,"validAfter":"0","validBefore":"%d","nonce":"0x%x"}}}`,
		want.Network, hex.EncodeToString(sig), from.Hex(), want.PayTo, value.String(), before, nonce))
	return header, deed.USDC(value.Int64())
}

// send posts a body, with a payment unless it is "". It returns 0 when the answer
// was lost.
func (n *node) send(t *testing.T, path, body, payment string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.callers+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if payment != "" {
		req.Header.Set("X-PAYMENT", payment)
	}
	if n.token != "" {
		req.Header.Set("Authorization", "Bearer "+n.token)
	}
	res, err := n.client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close() // it is read below
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	return res.StatusCode, string(answer)
}

// A killCase is a request during which the server is killed.
type killCase struct {
	path string
	done int // the status of the answer when it is done

	// prepare makes the order possible, on a server that lives, and returns its
	// body and what that cost the owner of the name, who is not who pays for the
	// order. Without it the order is for a new name.
	prepare func(t *testing.T, n *node, owner *ecdsa.PrivateKey) (body string, cost deed.USDC)

	owned bool                        // only the owner may ask
	seen  func(t *testing.T, n *node) // wants that what was bought is there; nil when the answer says it all

	decision string // of the other registrar; "" when there is none
	decide   func() // makes it, where it is not made in the sandbox
	refused  bool   // and that it is a no
}

var (
	registerCase = killCase{path: "/domains/register", done: 201}
	renewCase    = killCase{path: "/domains/renew", done: 200, prepare: buyNames}
	transferCase = killCase{path: "/domains/transfer", done: 201, prepare: nameElsewhere, decision: `{"domain":"killed.com","approve":true}`}
	refusedCase  = killCase{path: "/domains/transfer", done: 201, prepare: nameElsewhere, decision: `{"domain":"killed.com","approve":false}`, refused: true}
)

// buyNames sells the name to another wallet, and returns an order for a year
// more.
func buyNames(t *testing.T, n *node, owner *ecdsa.PrivateKey) (string, deed.USDC) {
	t.Helper()
	n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(owner.PublicKey).Hex()}, nil)
	payment, price := n.payment(t, owner, "/domains/register", registerBody)
	waitFor(t, func() bool {
		status, body := n.send(t, "/domains/register", registerBody, payment)
		if status != 201 && status != 202 && status != 503 {
			t.Fatalf("got %d %s", status, body)
		}
		return status == 201
	})
	return `{"domain":"killed.com","years":1}`, price
}

// nameElsewhere puts the name at another registrar, and returns an order for
// its transfer.
func nameElsewhere(t *testing.T, n *node, _ *ecdsa.PrivateKey) (string, deed.USDC) {
	t.Helper()
	var there api.Elsewhere
	if status := n.call(t, "POST", "/sandbox/elsewhere", "", api.ElsewhereRequest{Domain: "killed.com"}, &there); status != 200 {
		t.Fatalf("got %d", status)
	}
	return fmt.Sprintf(`{"domain":"killed.com","authCode":%q}`, there.AuthCode), 0
}

const registerBody = `{"domain":"killed.com"}`

// place sends the order, and then what the other registrar decides.
func (o killCase) place(t *testing.T, n *node, body, payment string) (int, string) {
	t.Helper()
	status, answer := n.send(t, o.path, body, payment)
	if o.decision != "" && status == 202 {
		n.send(t, "/sandbox/transfers", o.decision, "") // it may come before the transfer, and is then sent again
	}
	if o.decide != nil && status == 202 {
		o.decide()
	}
	return status, answer
}

// killAt lets a server die at a point of an order, starts it again, repeats the
// same request, and wants what was bought or the money.
func killAt(t *testing.T, o killCase, point, fault string, environ ...string) {
	t.Helper()
	path, err := failpointBinary()
	if err != nil {
		t.Fatal(err)
	}
	dir, key, owner, site := t.TempDir(), newKey(t), newKey(t), slices.Clone(environ)
	order, spent := registerBody, deed.USDC(0)
	if o.prepare != nil {
		n := start(t, dir, environ...)
		order, spent = o.prepare(t, n, owner)
		n.stop(t)
	}
	killed := startBinary(t, path, dir, append(site, "FAILPOINT="+point)...)
	site = append(site, "DEED_PUBLIC_URL="+killed.callers)
	wallet := api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex(), Amount: "1000.00"}
	killed.call(t, "POST", "/sandbox/faucet", "", wallet, nil)
	if fault != "" {
		killed.call(t, "POST", "/sandbox/faults", "", api.FaultsRequest{Registrar: fault, Times: new(1)}, nil)
	}
	if o.owned {
		killed.token = killed.signIn(t, owner).AccessToken
	}
	payment, price := killed.payment(t, key, o.path, order)
	o.place(t, killed, order, payment)
	if err := killed.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it did not die at %q: %v %s", point, err, killed.log)
	}
	n := start(t, dir, site...)
	n.token = killed.token
	var status int
	var body string
	waitFor(t, func() bool {
		status, body = o.place(t, n, order, payment)
		return status == o.done || status == 500 && strings.Contains(body, `"confirmed"`)
	})
	refunds, left := "1 refunds of "+price.String(), deed.USDC(1_001_000_000)
	if status == o.done {
		refunds, left = "0 refunds of 0.00", left-price
	}
	if refused := fault == "refuse" || o.refused; refused != (status == 500) {
		t.Errorf("got %d %s", status, body)
	}
	var got api.Faucet
	wallet.Amount = "1.00"
	if n.call(t, "POST", "/sandbox/faucet", "", wallet, &got); got.Balance != left.String() {
		t.Errorf("%d and a balance of %s, want %s", status, got.Balance, left)
	}
	if o.seen != nil {
		o.seen(t, n)
	}
	n.audit(t, dir, environ, fmt.Sprintf("%d transfers of %s USDC", 1+min(spent, 1), price+spent), refunds+" USDC", "0 payments and jobs are open")
	n.stop(t)
}

// audit runs the audit beside the server and wants these words in it.
func (n *node) audit(t *testing.T, dir string, environ []string, words ...string) {
	t.Helper()
	cmd := exec.Command(binary, "admin", "audit", "--data", dir, "--chain-listen", strings.TrimPrefix(n.sandbox(t).RPCURL, "http://"))
	cmd.Env = environ
	out, err := cmd.CombinedOutput()
	for _, want := range words {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("audit: %v, want %q in %s", err, want, out)
		}
	}
}

// A server killed in the middle of an order delivers it after all, or gives the
// money back.
func TestKillNine(t *testing.T) {
	for _, c := range []struct { // all of them: make long
		name  string
		order killCase
		point string
		fault string
	}{
		{"settling", registerCase, "payment: settling", ""},
		{"sent", registerCase, "after send", ""},
		{"ordered", registerCase, "job: ordered", ""},
		{"refund", registerCase, "payment: money returned", "refuse"},
		{"renewal", renewCase, "job: looked up", ""},
		{"transfer", transferCase, "job: looked up", ""},
		{"money for a record", recordCase, "payment: money moved", ""},
		{"record", recordCase, "change: settled", ""},
		{"record made", recordCase, "change: changed", ""},
		{"transfer refused", refusedCase, "payment: refund_due", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			killAt(t, c.order, c.point, c.fault)
		})
	}
}
