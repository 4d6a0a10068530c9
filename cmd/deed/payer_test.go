package main

import (
	"database/sql"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/internal/npmtest"
)

// buyWith lets a client that others wrote buy a name.
func buyWith(t *testing.T, n *node, dir, script, domain string) {
	t.Helper()
	npmtest.Install(t, dir)
	key := newKey(t)
	n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex()}, nil)
	out := npmtest.Run(t, dir, "node", script, n.callers, "0x"+hex.EncodeToString(crypto.FromECDSA(key)), domain)
	if !strings.Contains(out, domain+" bought") {
		t.Errorf("got %s", out)
	}
	t.Log(out)
}

// Payers that others wrote pay unchanged.
func TestStockPayers(t *testing.T) {
	n := start(t, t.TempDir())
	buyWith(t, n, "testdata/payers", "fetch.mjs", "fetched.com")
	buyWith(t, n, "testdata/payers", "axios.mjs", "requested.com")
	buyWith(t, n, "testdata/payers", "undeployed.mjs", "deployed.com")
}

// An audit of a running service counts every dollar, and finds one that is
// missing.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir)
	buyWith(t, n, "testdata/payers", "fetch.mjs", "audited.com")
	rpc := strings.TrimPrefix(n.sandbox(t).RPCURL, "http://")
	out, err := exec.Command(binary, "admin", "audit", "--data", dir, "--chain-listen", rpc).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 transfers of 13.06 USDC in all on the chain, 0 not in the books") || strings.Contains(string(out), "BROKEN") {
		t.Errorf("got %v: %s", err, out)
	}
	n.stop(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // only a test's connection
	if _, err := db.Exec(`DELETE FROM ledger WHERE account = 'revenue'`); err != nil {
		t.Fatal(err)
	}
	out, err = exec.Command(binary, "admin", "audit", "--data", dir, "--chain-listen", rpc).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "BROKEN × 1") || !strings.Contains(string(out), "the books were not compared with the chain: ") {
		t.Errorf("got %v: %s", err, out)
	}
}
