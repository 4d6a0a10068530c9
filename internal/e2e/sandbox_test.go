package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/devchain"
)

// openChain opens an embedded chain and its JSON-RPC endpoint.
func openChain(t *testing.T) (*devchain.Chain, *httptest.Server) {
	t.Helper()
	c, err := devchain.Open(devchain.Config{Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	rpc := httptest.NewServer(c.Handler())
	t.Cleanup(func() { rpc.Close(); c.Close() }) // the chain is removed after the test
	return c, rpc
}

// openSandbox opens a service on an embedded chain.
func openSandbox(t *testing.T, o options) (*service, *devchain.Chain, *httptest.Server) {
	t.Helper()
	chain, rpc := openChain(t)
	o.limits, o.rpcURL = generous(), rpc.URL
	o.config = func(c *app.Config) { c.Hooks.Chain = chain }
	return open(t, o), chain, rpc
}

func TestFaucet(t *testing.T) {
	h, _, _ := openSandbox(t, options{})
	if got := read[api.Sandbox](t, h.get(t, "/sandbox")); got.ChainID != 84532 || got.USDC != devchain.USDC || got.RPCURL == "" {
		t.Errorf("got %+v", got)
	}
	const w = `"walletAddress":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F"`
	if got := read[api.Faucet](t, h.do(t, "POST", "/sandbox/faucet", `{`+w+`}`)); got.Balance != "1000.00" || len(got.TxHash) != 66 {
		t.Errorf("got %+v", got)
	}
	if got := read[api.Faucet](t, h.do(t, "POST", "/sandbox/faucet", `{`+w+`,"amount_usd":"0.5"}`)); got.Balance != "1000.50" {
		t.Errorf("got %+v", got)
	}
	for _, body := range []string{`{}`, `{"walletAddress":"0x1"}`, fmt.Sprintf(`{"walletAddress":%q}`, deed.ZeroWallet), `{` + w + `,"amount_usd":"0"}`, `{` + w + `,"amount_usd":"-1"}`, `{` + w + `,"amount_usd":"1e6"}`, `{` + w + `,"amount_usd":"1000001"}`} {
		h.do(t, "POST", "/sandbox/faucet", body).expect(t, 400, deed.CodeValidation)
	}
	for amount, want := range map[string]string{
		"1e6":                  `amount_usd: "1e6" is not an amount: write it like 12.50`,
		"99999999999999999999": `amount_usd: "99999999999999999999" is too large an amount`,
		"1000001":              "amount_usd: must be above 0 and at most 1000000.00",
	} {
		got := h.do(t, "POST", "/sandbox/faucet", fmt.Sprintf(`{%s,"amount_usd":%q}`, w, amount))
		if got.expectDetail(t, amount, "amount_usd"); got.error(t).Message != want {
			t.Errorf("%s: got %s, want %s", amount, got.body, want)
		}
	}
}

// A decision about a transfer without "approve" is refused: nothing is rejected by omission.
func TestDecisionNeedsApprove(t *testing.T) {
	h, _, _ := openSandbox(t, options{})
	out := read[api.Elsewhere](t, h.do(t, "POST", "/sandbox/elsewhere", `{"domain":"moving.com"}`))
	if out.AuthCode == "" {
		t.Fatalf("got %+v", out)
	}
	for _, body := range []string{`{"domain":"moving.com"}`, `{"domain":"moving.com","approve":null}`} {
		got := h.do(t, "POST", "/sandbox/transfers", body)
		got.expect(t, 400, deed.CodeValidation)
		got.expectDetail(t, body, "approve")
	}
	h.do(t, "POST", "/sandbox/transfers", `{"domain":"moving.com","approve":false}`).expect(t, 404, deed.CodeNotFound) // none is pending
}

func TestNoSandboxInProduction(t *testing.T) {
	h := open(t, options{})
	h.get(t, "/sandbox").expect(t, 404, deed.CodeNotFound)
	h.do(t, "POST", "/sandbox/faucet", `{}`).expect(t, 404, deed.CodeNotFound)
}

// Smart contract wallets can sign in (ERC-1271), also before they are deployed
// (ERC-6492), and the check changes nothing on the chain.
func TestContractWalletsSignIn(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		h, chain, rpc := openSandbox(t, o)
		owner, stranger := newAccount(t), newAccount(t)
		w, order := contractWallet(owner.wallet)

		signIn := func(signer *account, wrapped bool) answer {
			text := message(w, h.nonce(t).Nonce, time.Now())
			sig := signer.sign(t, text)
			if wrapped {
				sig = wrap(t, order, sig)
			}
			return h.verify(t, text, sig)
		}
		signIn(owner, false).expect(t, 400, deed.CodeValidation) // not deployed, and without deployment data
		signIn(stranger, true).expect(t, 400, deed.CodeValidation)
		if got := read[api.TokenSet](t, signIn(owner, true)); got.WalletAddress != string(w) {
			t.Errorf("got %+v", got)
		}
		signIn(owner, false).expect(t, 400, deed.CodeValidation) // still not deployed
		if _, _, err := chain.SendFromFaucet(t.Context(), devchain.WalletFactory, order); err != nil {
			t.Fatal(err)
		}
		h.bearer(t, read[api.TokenSet](t, signIn(owner, false)).AccessToken).expectSuccess(t)
		signIn(stranger, false).expect(t, 400, deed.CodeValidation)

		rpc.Close()
		got := signIn(owner, false)
		got.expect(t, 503, deed.CodeUnavailable)
		if got.header.Get("Retry-After") == "" || strings.Contains(got.body, "127.0.0.1") {
			t.Errorf("got %v %s", got.header, got.body)
		}
		h.tokens(t, owner) // a plain wallet needs no chain
	})
}

// contractWallet returns a contract wallet of the owner, and the call of the factory that
// deploys it.
func contractWallet(owner deed.Wallet) (w deed.Wallet, create []byte) {
	salt := sha256.Sum256([]byte(owner))
	argument := common.LeftPadBytes(common.HexToAddress(string(owner)).Bytes(), 32)
	code := crypto.Keccak256(contracts.Compiled("Wallet").Create, argument)
	w = deed.Wallet(strings.ToLower(crypto.CreateAddress2(common.HexToAddress(devchain.WalletFactory), salt, code).Hex()))
	return w, slices.Concat(crypto.Keccak256([]byte("createWallet(address,bytes32)"))[:4], argument, salt[:])
}

// wrap adds the deployment data to a signature (ERC-6492).
func wrap(t *testing.T, order []byte, signature string) string {
	t.Helper()
	sig, err := hex.DecodeString(signature[2:])
	if err != nil {
		t.Fatal(err)
	}
	return "0x" + hex.EncodeToString(wrapBy(devchain.WalletFactory, order, sig))
}

func wrapBy(factory string, order, sig []byte) []byte {
	word := func(n int) []byte { return common.LeftPadBytes(big.NewInt(int64(n)).Bytes(), 32) }
	text := func(b []byte) []byte { return slices.Concat(word(len(b)), common.RightPadBytes(b, (len(b)+31)/32*32)) }
	return slices.Concat(common.LeftPadBytes(common.HexToAddress(factory).Bytes(), 32),
		word(96), word(96+len(text(order))), text(order), text(sig), slices.Repeat([]byte{0x64, 0x92}, 16))
}
