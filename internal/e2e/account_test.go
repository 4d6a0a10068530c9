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
	"deed.example/deed/api"
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

// A payment for one DNS record names it; one for several, for a name, or one whose change
// was not made names none.
func TestTransactionsNameTheirRecord(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		pay := func(amount deed.USDC) string { return s.promise(owner, amount).header(t) }
		rec := created(t, s.dnsCall(t, "POST", "/dns/first.com", `{"type":"A","host":"www","value":"192.0.2.1"}`, token, pay(change)))
		s.dnsCall(t, "PUT", "/dns/first.com/"+rec.ID, `{"value":"192.0.2.2"}`, token, pay(change)).expect(t, 200, "")
		s.dnsCall(t, "POST", "/dns/first.com/batch", `{"changes":[{"op":"add","type":"A","host":"a","value":"192.0.2.1"},{"op":"add","type":"A","host":"b","value":"192.0.2.1"}]}`, token, pay(2*change)).expect(t, 200, "")
		s.dnsCall(t, "DELETE", "/dns/first.com/"+rec.ID, "", token, pay(change)).expect(t, 200, "")
		want := map[string]string{"registration": "", "dns_add": rec.ID, "dns_update": rec.ID, "dns_batch": "", "dns_delete": rec.ID}
		list := read[api.Transactions](t, s.get(t, "/account/transactions", "Authorization", token)).Transactions
		if len(list) != len(want) {
			t.Errorf("got %+v", list)
		}
		for _, m := range list {
			if id, ok := want[m.Type]; !ok || m.RecordID != id {
				t.Errorf("%s: got the record %q, want %q", m.Type, m.RecordID, id)
			}
		}
	})
}
