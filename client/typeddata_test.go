package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/client"
)

// paymentText is a payment as a signer gets it, and paymentDigest what viem's
// hashTypedData makes of it.
const (
	paymentText = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],
"TransferWithAuthorization":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]},
"primaryType":"TransferWithAuthorization","domain":{"name":"USDC","version":"2","chainId":84532,"verifyingContract":"0x036CbD53842c5426634e7929541eC2318f3dCF7e"},
"message":{"from":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F","to":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","value":"13060000","validAfter":"0","validBefore":"1767323045","nonce":"0x0101010101010101010101010101010101010101010101010101010101010101"}}`
	paymentDigest = "0xfa1a24b6192b4bd0b8d58339127343cd8d2cfba90cb5b6b466fb2b7689c46034"
)

func TestTypedDataDigest(t *testing.T) {
	var data client.TypedData
	if err := json.Unmarshal([]byte(paymentText), &data); err != nil {
		t.Fatal(err)
	}
	got, err := data.Digest()
	if err != nil || common.Hash(got).Hex() != paymentDigest {
		t.Errorf("got %x, %v, want %s", got, err, paymentDigest)
	}
	data.Message["value"] = "a lot"
	if _, err := data.Digest(); err == nil {
		t.Error("a value that is no number has a digest")
	}
}

// The key recovers from both kinds of signatures.
func TestKeySignsMessagesAndTypedData(t *testing.T) {
	raw, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	key := client.NewKey(raw)
	var data client.TypedData
	if err := json.Unmarshal([]byte(paymentText), &data); err != nil {
		t.Fatal(err)
	}
	digest, err := data.Digest()
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.SignTypedData(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] -= 27
	public, err := crypto.SigToPub(digest[:], sig)
	if err != nil || crypto.PubkeyToAddress(*public) != key.Address() {
		t.Errorf("got %v", err)
	}
}

func TestUserAgentHasVersions(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.UserAgent()
		_, _ = w.Write([]byte(`{}`))
	}))
	defer srv.Close()
	for want, opts := range map[string][]client.Option{"deed-go/": nil, "shop/1.2 deed-go/": {client.WithUserAgent("shop/1.2")}} {
		c, err := client.New(srv.URL, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Nonce(t.Context()); err != nil || !strings.HasPrefix(got, want) || !strings.Contains(got, "go1.") {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}
