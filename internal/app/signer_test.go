package app

import (
	"crypto/ecdsa"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/signer/signertest"
)

// A node whose keys are at a Web3Signer sells and refunds, and has no key itself.
func TestRemoteSigner(t *testing.T) {
	other, buyerOfOther := serveNode(t, sandbox(t), newKey(t))
	gas, refund, key := newKey(t), newKey(t), newKey(t)
	for _, k := range []*ecdsa.PrivateKey{gas, refund, key} {
		if _, err := buyerOfOther.Faucet(t.Context(), api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(k.PublicKey).Hex()}); err != nil {
			t.Fatal(err)
		}
	}
	keys := &signertest.Web3Signer{ChainID: network.EmbeddedChainID, Keys: []*ecdsa.PrivateKey{gas, refund}}
	service := httptest.NewServer(keys)
	t.Cleanup(service.Close)
	c := sandbox(t)
	c.ChainRPCURL, c.AllowEmbedded, c.ChainDepth = deed.Secret(other.chain.sandbox.RPCURL), true, "1"
	c.PayTo, c.SignerURL = "0x71C7656EC7ab88b098defB751B7401B5f6d8976F", deed.Secret(service.URL)
	c.GasWallet, c.RefundWallet = crypto.PubkeyToAddress(gas.PublicKey).Hex(), crypto.PubkeyToAddress(refund.PublicKey).Hex()
	c.PublicURL = "http://deed.test"
	_, buyer := serveNode(t, c, key)
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "remote.com"}); err != nil {
		t.Fatal(err)
	}
	if keys.Signed.Load() == 0 {
		t.Error("the service signed nothing")
	}
}

// A configuration with a signer and key files, or with half of either, is refused.
func TestSignerConfig(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"both": func(c *Config) {
			c.SignerURL, c.GasWallet, c.RefundWallet, c.GasKey = "http://signer", "0x1", "0x2", "gas.key"
		},
		"no addresses":  func(c *Config) { c.SignerURL = "http://signer" },
		"only a wallet": func(c *Config) { c.GasWallet = "0x1" },
	} {
		c := sandbox(t)
		change(&c)
		if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "chain.signer_url") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
