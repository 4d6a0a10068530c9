package e2e_test

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
)

// undeployed returns the promise of a contract wallet that is not deployed yet and has
// money, signed by its owner and wrapped for the factory (ERC-6492).
func (s *env) undeployed(t *testing.T, owner *account, factory string) (*promise, deed.Wallet) {
	t.Helper()
	w, create := contractWallet(owner.wallet)
	if _, _, err := s.chain.Faucet(t.Context(), string(w), 1_000_000_000); err != nil {
		t.Fatal(err)
	}
	p := s.promise(owner, comPrice)
	p.from = common.HexToAddress(string(w))
	p.wrap = func(sig []byte) []byte { return wrapBy(factory, create, sig) }
	return p, w
}

// A wallet that is not deployed yet buys a name, owns it, and repeats its request.
func TestUndeployedWalletBuys(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := newAccount(t)
		p, w := s.undeployed(t, owner, devchain.WalletFactory)
		payment := p.header(t)
		got, again := s.register(t, "undeployed.com", payment), s.register(t, "undeployed.com", payment)
		var bought api.Registration
		if err := json.Unmarshal([]byte(got.body), &bought); err != nil || got.status != 201 || bought.WalletAddress != string(w) {
			t.Fatalf("got %d %s, %v", got.status, got.body, err)
		}
		if again.status != 201 || again.body != got.body {
			t.Errorf("repeated: got %d %s", again.status, again.body)
		}
		s.audit(t)
	})
}

// The answer for a factory that is not on the list says what to do, and the money stays.
func TestUndeployedWalletOfAnotherFactory(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		p, w := s.undeployed(t, newAccount(t), "0x00000000000000000000000000000000000000fa")
		got := s.register(t, "elsewhere.com", p.header(t))
		got.expect(t, 402, deed.CodePaymentInvalid)
		if !strings.Contains(got.body, "deploy the wallet first") || !strings.Contains(got.body, `"accepts"`) {
			t.Errorf("got %s", got.body)
		}
		if left := s.balance(t, common.HexToAddress(string(w))); left != 1_000_000_000 {
			t.Errorf("it has %s left", left)
		}
	})
}
