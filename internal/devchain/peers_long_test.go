//go:build long

package devchain_test

import (
	"encoding/hex"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/npmtest"
)

// peers is the directory of the clients and of anvil.
const peers = "testdata/peers"

func TestClients(t *testing.T) {
	npmtest.Install(t, peers)
	contracts, err := filepath.Abs("../../contracts")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"viem.mjs", "ethers.mjs"} {
		t.Run(script, func(t *testing.T) {
			b := open(t)
			w := b.fundedWallet(t, 1_000_000)
			b.send(t, w, &w.addr, nil) // nonce 0 is used, so the scripts' transactions with it fail
			server := httptest.NewServer(b.Handler())
			defer server.Close()
			t.Log(npmtest.Run(t, peers, "node", script, server.URL, "0x"+hex.EncodeToString(crypto.FromECDSA(w.key)), contracts))
		})
	}
}
