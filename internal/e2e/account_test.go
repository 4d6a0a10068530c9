package e2e_test

import (
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/signin"
)

// account is a plain wallet with its key.
type account struct {
	key    *ecdsa.PrivateKey
	wallet deed.Wallet
}

func newAccount(t *testing.T) *account {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return &account{key, deed.Wallet(strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex()))}
}

// sign signs a text like a wallet (EIP-191).
func (a *account) sign(t *testing.T, text string) string {
	t.Helper()
	sig, err := crypto.Sign(accounts.TextHash([]byte(text)), a.key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	return "0x" + hex.EncodeToString(sig)
}

// message returns the usual sign-in message of a wallet.
func message(w deed.Wallet, nonce string, issued time.Time) string {
	return fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\nSign in to Deed.\n\nURI: %s\nVersion: 1\nChain ID: %d\nNonce: %s\nIssued At: %s",
		testSite.Domain, w.Checksum(), testSite.URI, testSite.ChainID, nonce, issued.UTC().Format(time.RFC3339))
}

// tokens signs the account in, bypassing the rate limits.
func (h *service) tokens(t *testing.T, a *account) signin.Tokens {
	t.Helper()
	text := message(a.wallet, string(h.api.SignIn.Nonce()), h.api.SignIn.Now())
	tokens, err := h.api.SignIn.SignIn(t.Context(), text, a.sign(t, text))
	if err != nil {
		t.Error(err) // not Fatal: races sign in from goroutines of their own
	}
	return tokens
}
