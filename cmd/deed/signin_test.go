package main

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/npmtest"
)

// call sends a JSON body, when there is one, and reads a JSON answer into out.
func (n *node) call(t *testing.T, method, path, token string, in, out any) int {
	t.Helper()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, n.callers+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			t.Errorf("%s %s: got %d %s", method, path, res.StatusCode, raw)
		}
	}
	return res.StatusCode
}

func (n *node) sandbox(t *testing.T) api.Sandbox {
	t.Helper()
	var out api.Sandbox
	n.call(t, "GET", "/sandbox", "", nil, &out)
	return out
}

func (n *node) signIn(t *testing.T, key *ecdsa.PrivateKey) api.TokenSet {
	t.Helper()
	var nonce api.Nonce
	n.call(t, "GET", "/auth/nonce", "", nil, &nonce)
	address := crypto.PubkeyToAddress(key.PublicKey).Hex()
	text := fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: 1\nChain ID: %d\nNonce: %s\nIssued At: %s",
		nonce.Domain, address, nonce.URI, nonce.ChainID, nonce.Nonce, time.Now().UTC().Format(time.RFC3339))
	sig, err := crypto.Sign(accounts.TextHash([]byte(text)), key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	var tokens api.TokenSet
	if status := n.call(t, "POST", "/auth/verify", "", api.VerifyRequest{Message: text, Signature: "0x" + hex.EncodeToString(sig)}, &tokens); status != 200 {
		t.Fatalf("sign in: got %d", status)
	}
	return tokens
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Signers that others wrote sign in unchanged.
func TestStockSigners(t *testing.T) {
	const signers = "testdata/signers"
	npmtest.Install(t, signers)
	n := start(t, t.TempDir())
	for _, script := range []string{"viem.mjs", "siwe.mjs", "ethers.mjs"} {
		t.Run(script, func(t *testing.T) {
			t.Log(npmtest.Run(t, signers, "node", script, n.callers, "0x"+hex.EncodeToString(crypto.FromECDSA(newKey(t)))))
		})
	}
}

// A gentle stop and a kill leave sessions and the chain as they were.
func TestRestartKeepsSessionsAndTheChain(t *testing.T) {
	dir, key := t.TempDir(), newKey(t)
	wallet := crypto.PubkeyToAddress(key.PublicKey).Hex()
	n := start(t, dir)
	callers := strings.TrimPrefix(n.callers, "http://")
	faucet := func(n *node) string {
		var got api.Faucet
		n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: wallet, Amount: "1.00"}, &got)
		return got.Balance
	}
	// The site's address is in every token, so every start takes the same port.
	again := func() *node { return start(t, dir, "DEED_PUBLIC_URL=http://"+callers) }
	tokens := n.signIn(t, key)
	if got := faucet(n); got != "1.00" {
		t.Errorf("got %s", got)
	}
	n.stop(t)

	n = again()
	if status := n.call(t, "GET", "/account", tokens.AccessToken, nil, nil); status == 401 {
		t.Error("a stop ended the session")
	}
	if got := faucet(n); got != "2.00" {
		t.Errorf("after a stop: got %s", got)
	}
	if err := n.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	n.cmd.Wait() // it was killed

	n = again()
	if got := faucet(n); got != "3.00" {
		t.Errorf("after a kill: got %s", got)
	}
	var next api.TokenSet
	if status := n.call(t, "POST", "/auth/refresh", "", api.RefreshRequest{RefreshToken: tokens.RefreshToken}, &next); status != 200 {
		t.Errorf("after a kill: got %d", status)
	}
	if status := n.call(t, "POST", "/auth/revoke", next.AccessToken, nil, nil); status != 200 {
		t.Errorf("revoke: got %d", status)
	}
	if err := n.cmd.Process.Kill(); err != nil { // at once after the answer
		t.Fatal(err)
	}
	n.cmd.Wait() // it was killed

	n = again()
	var refused api.Error
	if status := n.call(t, "GET", "/account", next.AccessToken, nil, &refused); status != 401 || refused.Code != string(deed.CodeTokenInvalid) {
		t.Errorf("a kill undid the revocation: got %d %+v", status, refused)
	}
}

func TestKeysRotate(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir, "DEED_LIMITS_SIGNIN=1000000")
	key := newKey(t)
	old := n.signIn(t, key)
	file := filepath.Join(dir, "signin.keys")
	if out, err := exec.Command(binary, "keys", "rotate", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	kid := func(tokens api.TokenSet) string { head, _, _ := strings.Cut(tokens.AccessToken, "."); return head }
	waitFor(t, func() bool { return kid(n.signIn(t, key)) != kid(old) })
	if status := n.call(t, "GET", "/account", old.AccessToken, nil, nil); status == 401 {
		t.Error("a new key logged everybody out")
	}
}
