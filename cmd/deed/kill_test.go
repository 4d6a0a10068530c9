package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
)

// mortal builds the binary that dies at a failpoint, once.
var mortal = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "deed-failpoint")
	out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, nil
})

// payment makes a payment for a new name.
func (n *node) payment(t *testing.T, key *ecdsa.PrivateKey, domain string) string {
	t.Helper()
	return n.paymentFor(t, key, "/domains/register", map[string]string{"domain": domain})
}

// paymentFor makes a payment for the offer of a server, as an x402 client would.
func (n *node) paymentFor(t *testing.T, key *ecdsa.PrivateKey, path string, order any) string {
	t.Helper()
	var offer api.PaymentRequired
	if status := n.call(t, "POST", path, "", order, &offer); status != 402 {
		t.Fatalf("the offer of %s for %v: got %d %+v", path, order, status, offer)
	}
	want := offer.Accepts[0]
	value, _ := new(big.Int).SetString(want.MaxAmountRequired, 10)
	before := big.NewInt(time.Now().Add(5 * time.Minute).Unix())
	nonce := make([]byte, 32)
	rand.Read(nonce) // it never fails
	from := crypto.PubkeyToAddress(key.PublicKey)
	word := func(b []byte) []byte { return common.LeftPadBytes(b, 32) }
	hash := func(s string) []byte { return crypto.Keccak256([]byte(s)) }
	site := crypto.Keccak256(hash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
		hash(want.Extra.Name), hash(want.Extra.Version), word(big.NewInt(devchain.ChainID).Bytes()), word(common.HexToAddress(want.Asset).Bytes()))
	promise := crypto.Keccak256(hash("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"),
		word(from.Bytes()), word(common.HexToAddress(want.PayTo).Bytes()), word(value.Bytes()), word(nil), word(before.Bytes()), nonce)
	sig, err := crypto.Sign(crypto.Keccak256([]byte{0x19, 1}, site, promise), key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		`{"x402Version":1,"scheme":"exact","network":%q,"payload":{"signature":"0x%s","authorization":{"from":%q,"to":%q,"value":%q,"validAfter":"0","validBefore":%q,"nonce":"0x%s"}}}`,
		want.Network, hex.EncodeToString(sig), from.Hex(), want.PayTo, value.String(), before.String(), hex.EncodeToString(nonce)))
}

// register orders a name with a payment.
func (n *node) register(t *testing.T, domain, payment string) (int, string) {
	t.Helper()
	return n.order(t, "/domains/register", fmt.Sprintf(`{"domain":%q}`, domain), payment)
}

// order sends a paid order. It returns 0 when the answer was lost.
func (n *node) order(t *testing.T, path, body, payment string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.callers+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-PAYMENT", payment)
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

// killAt lets a server die at a point of buying a name, starts it again, repeats
// the same request, and wants the name or the money.
func killAt(t *testing.T, point string, fault string, environ ...string) {
	t.Helper()
	path, err := mortal()
	if err != nil {
		t.Fatal(err)
	}
	dir, key := t.TempDir(), newKey(t)
	wallet := crypto.PubkeyToAddress(key.PublicKey).Hex()
	mortalNode := startBinary(t, path, dir, append(environ, "FAILPOINT="+point)...)
	site := "DEED_PUBLIC_URL=" + mortalNode.callers
	mortalNode.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: wallet}, nil)
	if fault != "" {
		mortalNode.call(t, "POST", "/sandbox/faults", "", api.FaultsRequest{Registrar: fault, Times: 1}, nil)
	}
	payment := mortalNode.payment(t, key, "mortal.com")
	mortalNode.register(t, "mortal.com", payment)
	if err := mortalNode.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it did not die at %q: %v %s", point, err, mortalNode.log)
	}
	n := start(t, dir, append(environ, site)...)
	var status int
	var body string
	waitFor(t, func() bool {
		status, body = n.register(t, "mortal.com", payment)
		return status == 201 || status == 500 && strings.Contains(body, `"confirmed"`)
	})
	var got api.Faucet
	n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: wallet, Amount: "1.00"}, &got)
	if want := map[int]string{201: "987.94", 500: "1001.00"}[status]; got.Balance != want {
		t.Errorf("%d and a balance of %s, want %s", status, got.Balance, want)
	}
	cmd := exec.Command(binary, "admin", "audit", "--data", dir, "--chain-listen", strings.TrimPrefix(n.sandbox(t).RPCURL, "http://"))
	cmd.Env = environ
	back := map[int]string{201: "0 refunds of 0.00 USDC", 500: "1 refunds of 13.06 USDC"}[status]
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 transfers of 13.06 USDC") || !strings.Contains(string(out), back) || !strings.Contains(string(out), "0 payments and jobs are open") {
		t.Errorf("audit: %v: %s", err, out)
	}
	n.stop(t)
}

// A server killed in the middle of buying a name delivers it after all.
func TestKillNine(t *testing.T) {
	for _, point := range []string{"payment: settling", "after send", "job: ordered"} { // all of them: make long
		t.Run(point, func(t *testing.T) { killAt(t, point, "") })
	}
	t.Run("refund", func(t *testing.T) { killAt(t, "payment: money returned", "refuse") })
}
