package remote_test

import (
	"crypto/ecdsa"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/signer/remote"
	"deed.example/deed/internal/signer/signertest"
)

func walletOf(t *testing.T, key *ecdsa.PrivateKey) deed.Wallet {
	t.Helper()
	w, err := deed.ParseWallet(crypto.PubkeyToAddress(key.PublicKey).Hex())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSigner(t *testing.T) {
	signertest.Run(t, func(t *testing.T, key *ecdsa.PrivateKey) signer.Signer {
		server := httptest.NewServer(&signertest.Web3Signer{ChainID: network.EmbeddedChainID, Keys: []*ecdsa.PrivateKey{key}})
		t.Cleanup(server.Close)
		s, err := remote.Open(t.Context(), deed.Secret(server.URL), walletOf(t, key))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// A service that is down, redirects, or lacks the key is refused at the start, and no
// error has its address.
func TestOpenRefuses(t *testing.T) {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]http.Handler{
		"without the key": &signertest.Web3Signer{ChainID: 1},
		"redirect":        http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect),
		"nonsense":        http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }), // the test fails without it
		"other protocol":  http.HandlerFunc(switchProtocols),
	} {
		server := httptest.NewServer(h)
		defer server.Close()
		address := strings.Replace(server.URL, "http://", "http://user:hunter2@", 1)
		if _, err := remote.Open(t.Context(), deed.Secret(address), walletOf(t, key)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := remote.Open(t.Context(), "http://user:hunter2@127.0.0.1:1/", walletOf(t, key)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("down: got %v", err)
	}
}

// switchProtocols answers 101, and then says nothing until the caller has closed the connection.
func switchProtocols(w http.ResponseWriter, _ *http.Request) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the caller notices
	}
	_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_ = buffered.Flush()
	_, _ = conn.Read(make([]byte, 1))
	_ = conn.Close()
}
