package signertest

import (
	"crypto/ecdsa"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/signer"
)

func TestRemote(t *testing.T) {
	Run(t, func(t *testing.T, key *ecdsa.PrivateKey) signer.Signer {
		server := httptest.NewServer(&Web3Signer{ChainID: network.EmbeddedChainID, Keys: []*ecdsa.PrivateKey{key}})
		t.Cleanup(server.Close)
		wallet, err := deed.ParseWallet(crypto.PubkeyToAddress(key.PublicKey).Hex())
		if err != nil {
			t.Fatal(err)
		}
		return &Remote{URL: server.URL, Wallet: wallet}
	})
}

// A signer without the key, or one that is down, signs nothing.
func TestRemoteFails(t *testing.T) {
	service := &Web3Signer{ChainID: network.EmbeddedChainID}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	r := &Remote{URL: server.URL, Wallet: other}
	if _, err := r.SignTransaction(t.Context(), transaction(1)); !errors.Is(err, errLocked) {
		t.Errorf("got %v, want %v", err, errLocked)
	}
	if _, err := r.SignTypedData(t.Context(), typedData(1)); !errors.Is(err, errLocked) {
		t.Errorf("got %v, want %v", err, errLocked)
	}
	service.Down.Store(true)
	if _, err := r.SignTransaction(t.Context(), transaction(1)); err == nil || errors.Is(err, errLocked) {
		t.Errorf("got %v, want another error", err)
	}
}
