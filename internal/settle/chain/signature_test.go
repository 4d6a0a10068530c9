package chain_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle/chain"
)

// bench is an embedded chain and a client that asks it.
type testChain struct {
	*devchain.Chain
	*chain.Client
	server *httptest.Server
}

func open(t *testing.T) *testChain {
	t.Helper()
	c, err := devchain.Open(devchain.Config{Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(c.Handler())
	t.Cleanup(func() { server.Close(); c.Close() }) // the chain goes away with the test
	return &testChain{c, patient(server.URL), server}
}

func newKey(t *testing.T) (*ecdsa.PrivateKey, deed.Wallet) {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key, walletAt(crypto.PubkeyToAddress(key.PublicKey))
}

func walletAt(a common.Address) deed.Wallet { return deed.Wallet(strings.ToLower(a.Hex())) }

var digest = [32]byte(crypto.Keccak256([]byte("sign in")))

func sign(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	sig, err := crypto.Sign(digest[:], key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	return sig
}

// deploy puts runtime code on the chain and returns where.
func (b *testChain) deploy(t *testing.T, code string) deed.Wallet {
	t.Helper()
	runtime, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	// PUSH1 size, DUP1, PUSH1 11, PUSH1 0, CODECOPY, PUSH1 0, RETURN
	create := append([]byte{0x60, byte(len(runtime)), 0x80, 0x60, 11, 0x60, 0, 0x39, 0x60, 0, 0xf3}, runtime...)
	_, at, err := b.SendFromFaucet(t.Context(), "", create)
	if err != nil {
		t.Fatal(err)
	}
	return walletAt(common.HexToAddress(at))
}

// expect fails unless the chain says yes or no as wanted.
func (b *testChain) expect(t *testing.T, name string, w deed.Wallet, sig []byte, want bool) {
	t.Helper()
	got, err := b.Signed(t.Context(), w, digest, sig)
	if err != nil || got != want {
		t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
	}
}

func TestPlainWallets(t *testing.T) {
	b := open(t)
	key, w := newKey(t)
	_, other := newKey(t)
	good := sign(t, key)
	change := func(f func([]byte)) []byte { sig := slices.Clone(good); f(sig); return sig }
	b.expect(t, "27 or 28", w, good, true)
	b.expect(t, "0 or 1", w, change(func(s []byte) { s[64] -= 27 }), true)
	b.expect(t, "another wallet", other, good, false)
	b.expect(t, "the wrong end", w, change(func(s []byte) { s[64] ^= 7 }), false)
	b.expect(t, "29", w, change(func(s []byte) { s[64] = 29 }), false)
	b.expect(t, "a changed bit", w, change(func(s []byte) { s[10] ^= 1 }), false)
	b.expect(t, "zero", w, make([]byte, 65), false)
	b.expect(t, "all ones", w, slices.Repeat([]byte{0xff}, 65), false)
	b.expect(t, "64 bytes", w, good[:64], false)
	b.expect(t, "66 bytes", w, append(slices.Clone(good), 0), false)
	b.expect(t, "one byte", w, []byte{1}, false)
	b.expect(t, "many bytes", w, make([]byte, 8<<10), false)
	b.expect(t, "the high s", w, change(func(s []byte) {
		n := crypto.S256().Params().N
		new(big.Int).Sub(n, new(big.Int).SetBytes(s[32:64])).FillBytes(s[32:64])
		s[64] ^= 27 ^ 28
	}), false)
}

// A plain wallet needs no chain to be believed, but one to be doubted.
func TestChainDown(t *testing.T) {
	down := chain.Dial("http://127.0.0.1:1")
	key, w := newKey(t)
	_, other := newKey(t)
	if got, err := down.Signed(t.Context(), w, digest, sign(t, key)); err != nil || !got {
		t.Errorf("got %v, %v, want yes", got, err)
	}
	if got, err := down.Signed(t.Context(), other, digest, sign(t, key)); err == nil || got {
		t.Errorf("got %v, %v, want an error", got, err)
	}
}

// Whatever an endpoint says that is no answer is an error, and names no address.
func TestBadEndpoints(t *testing.T) {
	_, w := newKey(t)
	for name, handler := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"limit": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"error":{"code":-32005,"message":"limit"}}`))
		},
		"a long story": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 5<<20)) },
	} {
		server := httptest.NewServer(handler)
		client := chain.Dial(server.URL + "/key-hunter2")
		client.Retry = 0
		got, err := client.Signed(t.Context(), w, digest, make([]byte, 65))
		if err == nil || got || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		server.Close()
	}
}

// A chain that hangs is given up, and only so many wait for it at once.
func TestSlowChain(t *testing.T) {
	asked := make(chan struct{}, 100)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release }))
	defer server.Close()
	defer close(release)
	client := patient(server.URL)
	_, w := newKey(t)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 20 {
		wg.Go(func() {
			if got, err := client.Signed(ctx, w, digest, make([]byte, 65)); !errors.Is(err, context.Canceled) || got {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	for range 4 {
		<-asked
	}
	cancel()
	wg.Wait()
	if n := len(asked); n != 0 {
		t.Errorf("%d more than 4 were under way at once", n)
	}
}

func TestWalletsOfCode(t *testing.T) {
	b := open(t)
	key, owner := newKey(t)
	thirdParty, _ := newKey(t)
	salt := [32]byte{1}
	w := b.walletOf(t, owner, salt)
	wrapped := wrap(common.HexToAddress(devchain.WalletFactory), b.createWallet(t, owner, salt), sign(t, key))

	b.expect(t, "not there yet, plain signature", w, sign(t, key), false)
	b.expect(t, "not there yet, wrapped", w, wrapped, true)
	b.expect(t, "still not there: nothing was changed", w, sign(t, key), false)
	b.expect(t, "wrapped, by a stranger", w, wrap(common.HexToAddress(devchain.WalletFactory), b.createWallet(t, owner, salt), sign(t, thirdParty)), false)
	b.expect(t, "wrapped, for another wallet", b.walletOf(t, owner, [32]byte{2}), wrapped, false)
	b.expect(t, "wrapped, without a factory", w, wrap(common.HexToAddress("0x01"), nil, sign(t, key)), false)

	if _, _, err := b.SendFromFaucet(t.Context(), devchain.WalletFactory, b.createWallet(t, owner, salt)); err != nil {
		t.Fatal(err)
	}
	b.expect(t, "there, plain signature", w, sign(t, key), true)
	b.expect(t, "there, wrapped", w, wrapped, true)
	b.expect(t, "there, by a stranger", w, sign(t, thirdParty), false)
	b.expect(t, "the owner's own wallet", owner, sign(t, key), true)
}

// Wallets that mean no good are answered no, each within its bounds.
func TestWalletsThatMeanNoGood(t *testing.T) {
	b := open(t)
	for name, tt := range map[string]struct {
		code string
		want bool
	}{
		"says yes":               {"631626ba7e60e01b60005260206000f3", true},
		"answers 4 bytes":        {"631626ba7e60e01b60005260046000f3", false},
		"answers 64 bytes":       {"631626ba7e60e01b60005260406000f3", true},
		"a yes with a tail":      {"631626ba7e60e01b6001176000526020" + "6000f3", false},
		"says no":                {"63ffffffff60e01b60005260206000f3", false},
		"answers nothing":        {"00", false},
		"reverts":                {"60006000fd", false},
		"reverts with a yes":     {"631626ba7e60e01b60005260206000fd", false},
		"burns all gas":          {"5b600056", false},
		"answers a megabyte":     {"620fffff6000f3", false},
		"an undefined opcode":    {"0c", false},
		"writes what it may not": {"6001600055631626ba7e60e01b60005260206000f3", false},
	} {
		b.expect(t, name, b.deploy(t, tt.code), []byte{1, 2, 3}, tt.want)
	}
}

// A signature may bring along any call; it moves nothing.
func TestWrappedCallMovesNothing(t *testing.T) {
	b := open(t)
	key, owner := newKey(t)
	_, thief := newKey(t)
	// A contract that would send the thief USDC it owns, whoever calls it.
	transfer := "a9059cbb" + strings.Repeat("0", 24) + string(thief[2:]) + strings.Repeat("0", 62) + "ff"
	code := "7f" + transfer[:64] + "600052" + "7f" + transfer[64:128] + "602052" + "63" + transfer[128:136] + "60e01b604052" +
		"6000600060446000600073" + strings.ToLower(devchain.USDC[2:]) + "5af100"
	sender := b.deploy(t, code)
	if _, balance, err := b.Faucet(t.Context(), string(sender), 1000); err != nil || balance != 1000 {
		t.Fatalf("got %d, %v", balance, err)
	}
	// Its call does move money in a transaction…
	if _, _, err := b.SendFromFaucet(t.Context(), string(sender), nil); err != nil {
		t.Fatal(err)
	}
	if got := b.balance(t, thief); got != 255 {
		t.Fatalf("the sender does not work: the thief has %d", got)
	}
	// …and not in a check of a signature.
	b.expect(t, "wrapped", owner, wrap(common.HexToAddress(string(sender)), nil, sign(t, key)), false)
	if got := b.balance(t, thief); got != 255 {
		t.Errorf("the thief has %d", got)
	}
}

func TestPing(t *testing.T) {
	b := open(t)
	if err := b.Ping(t.Context(), devchain.ChainID); err != nil {
		t.Error(err)
	}
	if err := b.Ping(t.Context(), 8453); err == nil {
		t.Error("it took one chain for another")
	}
	b.server.Close()
	if err := b.Ping(t.Context(), devchain.ChainID); err == nil {
		t.Error("a chain that is down is up")
	}
}

// A second endpoint answers for one that is down, lies in the way or is broken.
func TestSecondEndpoint(t *testing.T) {
	b := open(t)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer broken.Close()
	for _, bad := range []string{"http://127.0.0.1:1", broken.URL} {
		for _, urls := range [][]string{{bad, b.server.URL}, {b.server.URL, bad}} {
			client := patient(urls...)
			for range 3 {
				if err := client.Ping(t.Context(), devchain.ChainID); err != nil {
					t.Errorf("%v: %v", urls, err)
				}
			}
		}
	}
	down := chain.Dial("http://127.0.0.1:1", broken.URL)
	down.Retry = 0
	if err := down.Ping(t.Context(), devchain.ChainID); err == nil || strings.Contains(err.Error(), "http://") {
		t.Errorf("both down: got %v", err)
	}
}

// balance asks the token itself.
func (b *testChain) balance(t *testing.T, w deed.Wallet) int64 {
	t.Helper()
	callMsg := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":%q,"data":"0x70a08231%s%s"},"latest"]}`,
		devchain.USDC, strings.Repeat("0", 24), w[2:])
	res, err := http.Post(b.server.URL, "application/json", strings.NewReader(callMsg))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	var answer struct{ Result hexutil.Bytes }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(answer.Result).Int64()
}

func (b *testChain) createWallet(t *testing.T, owner deed.Wallet, salt [32]byte) []byte {
	t.Helper()
	return slices.Concat(crypto.Keccak256([]byte("createWallet(address,bytes32)"))[:4], common.LeftPadBytes(common.HexToAddress(string(owner)).Bytes(), 32), salt[:])
}

// walletOf returns where the factory will make the wallet (EIP-1014).
func (b *testChain) walletOf(t *testing.T, owner deed.Wallet, salt [32]byte) deed.Wallet {
	t.Helper()
	create := slices.Concat(contracts.Compiled("Wallet").Create, common.LeftPadBytes(common.HexToAddress(string(owner)).Bytes(), 32))
	return walletAt(crypto.CreateAddress2(common.HexToAddress(devchain.WalletFactory), salt, crypto.Keccak256(create)))
}

// wrap makes a signature that brings along how to make its wallet (ERC-6492).
func wrap(factory common.Address, order, signature []byte) []byte {
	word := func(n int) []byte { return common.LeftPadBytes(big.NewInt(int64(n)).Bytes(), 32) }
	text := func(b []byte) []byte { return slices.Concat(word(len(b)), common.RightPadBytes(b, (len(b)+31)/32*32)) }
	return slices.Concat(common.LeftPadBytes(factory.Bytes(), 32), word(96), word(96+len(text(order))), text(order), text(signature), slices.Repeat([]byte{0x64, 0x92}, 16))
}
