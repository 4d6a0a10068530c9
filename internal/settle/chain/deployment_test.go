package chain_test

import (
	"bytes"
	"crypto/ecdsa"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
)

// A futureWallet is a contract wallet that is not deployed yet.
type futureWallet struct {
	env     *testEnv
	owner   *ecdsa.PrivateKey
	address deed.Wallet
	create  []byte // the call of the factory that deploys it
}

// futureWallet returns a wallet with money for ten payments and without code.
func (env *testEnv) futureWallet() *futureWallet {
	env.t.Helper()
	b := &testChain{Chain: env.Chain}
	key, owner := newKey(env.t)
	w := &futureWallet{env, key, b.walletOf(env.t, owner, [32]byte{1}), b.createWallet(env.t, owner, [32]byte{1})}
	env.give(w.address, 10*int64(price))
	return w
}

// signs returns a payment of the wallet whose signature is not wrapped.
func (w *futureWallet) signs(nonce string) settle.Authorization {
	w.env.t.Helper()
	a := w.env.payFrom(w.owner, nonce)
	a.Payer = w.address
	return w.env.signed(w.owner, a)
}

// pays returns a payment whose signature includes the deployment.
func (w *futureWallet) pays(nonce string) settle.Authorization {
	return w.paysBy(nonce, common.HexToAddress(devchain.WalletFactory), w.create)
}

func (w *futureWallet) paysBy(nonce string, factory common.Address, data []byte) settle.Authorization {
	a := w.signs(nonce)
	a.Signature = wrap(factory, data, a.Signature)
	return a
}

func (w *futureWallet) deployed() bool {
	w.env.t.Helper()
	var code hexutil.Bytes
	w.env.rpc(&code, "eth_getCode", string(w.address), "latest")
	return len(code) > 0
}

// batched encodes calls for a contract like Multicall.
func batched(t *testing.T, calls ...call) []byte {
	t.Helper()
	multicall, err := abi.JSON(bytes.NewReader(contracts.Compiled("Multicall").ABI))
	if err != nil {
		t.Fatal(err)
	}
	data, err := multicall.Pack("aggregate3", calls)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// anyFactory deploys a contract that makes any calls that its caller asks for, and
// lists it as a factory. It is the worst that an operator can list.
func (env *testEnv) anyFactory() common.Address {
	env.t.Helper()
	_, at, err := env.SendFromFaucet(env.t.Context(), "", contracts.Compiled("Multicall").Create)
	if err != nil {
		env.t.Fatal(err)
	}
	factory := common.HexToAddress(at)
	env.cfg.Network.WalletFactories = append(slices.Clone(env.cfg.Network.WalletFactories), walletAt(factory))
	return factory
}

func (env *testEnv) checkFails(s *chain.Settler, name string, a settle.Authorization, want deed.Code, words string) {
	env.t.Helper()
	_, err := s.Check(env.t.Context(), a, nil)
	if deed.CodeOf(err) != want || err == nil || !strings.Contains(err.Error(), words) {
		env.t.Errorf("%s: got %v, want %s with %q", name, err, want, words)
	}
}

// A wallet that is not deployed yet is deployed and pays in one transaction; after
// that its wrapped signatures are used without the deployment.
func TestWalletIsDeployedByItsPayment(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		w := env.futureWallet()
		a := w.pays("1")
		funds, err := s.Check(t.Context(), a, nil)
		if err != nil || funds.Balance != 10*price || w.deployed() {
			t.Fatalf("got %+v, %v, deployed %v", funds, err, w.deployed())
		}
		// It waits together with plain wallets, and goes alone.
		_, all := env.together(s, env.pay("1"), a, env.pay("2"), env.pay("3"))
		hash, other := env.settled(all[0]), env.settled(all[1])
		if hash == other || !w.deployed() || env.usdc(w.address) != 9*price {
			t.Errorf("got %s beside %s, deployed %v, %s left", hash, other, w.deployed(), env.usdc(w.address))
		}
		t.Logf("gas of a payment that deploys its wallet: %d", env.gasUsed(hash))
		if again := env.settled(env.settleLater(s, a)); again != hash {
			t.Errorf("again: got %s, want %s", again, hash)
		}
		second := w.paysBy("2", env.token, nil) // a deployment that is not needed is not looked at
		if _, err := s.Check(t.Context(), second, nil); err != nil {
			t.Fatal(err)
		}
		with := env.gasUsed(hash)
		if without := env.gasUsed(env.settled(env.settleLater(s, second))); without*2 > with {
			t.Errorf("got %d gas after the deployment and %d with it", without, with)
		}
		env.seen(s, a, second, env.pay("1"), env.pay("2"), env.pay("3"))
	})
}

func TestCheckOfUndeployedWallets(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		w, poor := env.futureWallet(), env.futureWallet()
		poorPays := poor.pays("1")
		poorPays.Amount = 11 * price
		poorPays = env.signed(poor.owner, poorPays)
		factory := common.HexToAddress(devchain.WalletFactory)
		poorPays.Signature = wrap(factory, poor.create, poorPays.Signature)
		stranger := env.futureWallet()
		thirdParty := w.signs("1")
		thirdParty.Signature = wrap(factory, w.create, env.signed(stranger.owner, thirdParty).Signature)
		elsewhere := w.paysBy("1", common.HexToAddress("0x00000000000000000000000000000000000000fa"), w.create)
		cut := w.pays("1")
		cut.Signature = slices.Concat(cut.Signature[40:]) // without the start, still with the suffix
		twice := w.pays("1")
		twice.Signature = wrap(factory, w.create, twice.Signature)
		long := w.paysBy("1", factory, make([]byte, 5000))
		bare := w.signs("1")
		bare.Signature = wrap(factory, w.create, nil)
		for name, tt := range map[string]struct {
			a     settle.Authorization
			words string
		}{
			"another factory":       {elsewhere, "deploy the wallet first"},
			"not wrapped":           {w.signs("1"), "signature"},
			"another wallet":        {w.paysBy("1", factory, stranger.create), "does not deploy"},
			"another owner":         {thirdParty, "does not accept"},
			"a reverting factory":   {w.paysBy("1", factory, []byte{1, 2, 3, 4}), "does not deploy"},
			"not decodable":         {cut, "ERC-6492"},
			"wrapped twice":         {twice, "twice"},
			"too long":              {long, "too long"},
			"nothing in it":         {bare, "empty"},
			"only the suffix":       {settle.Authorization{Asset: bare.Asset, Payer: bare.Payer, PayTo: bare.PayTo, Amount: bare.Amount, ValidBefore: bare.ValidBefore, Nonce: bare.Nonce, Signature: slices.Repeat([]byte{0x64, 0x92}, 16)}, "ERC-6492"},
			"offsets out of bounds": {settle.Authorization{Asset: bare.Asset, Payer: bare.Payer, PayTo: bare.PayTo, Amount: bare.Amount, ValidBefore: bare.ValidBefore, Nonce: bare.Nonce, Signature: slices.Concat(bytes.Repeat([]byte{0xff}, 96), slices.Repeat([]byte{0x64, 0x92}, 16))}, "ERC-6492"},
		} {
			env.checkFails(s, name, tt.a, deed.CodePaymentInvalid, tt.words)
		}
		env.checkFails(s, "too little money", poorPays, deed.CodePaymentInsufficient, "has 1")
		if w.deployed() || env.nonceOf(env.gasKey) != 0 {
			t.Error("a check changed something")
		}
		env.proxy.cut()
		if _, err := s.Check(t.Context(), w.pays("1"), nil); deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("no chain: got %v, want no code", err)
		}
	})
}

// The deployment is code of a stranger, in our transaction.
func TestHostileDeployments(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		factory := env.anyFactory()
		s := env.settler()
		b := &testChain{Chain: env.Chain}
		makers := common.HexToAddress(devchain.WalletFactory)
		burner, fat := addressOf(b.deploy(t, "5b600056")), addressOf(b.deploy(t, "620fffff6000f3"))
		w := env.futureWallet()
		for name, data := range map[string][]byte{
			"uses all gas":          batched(t, call{makers, false, w.create}, call{burner, true, nil}),
			"uses all gas at once":  batched(t, call{burner, true, nil}, call{makers, false, w.create}),
			"deploys nothing":       batched(t),
			"deploys another":       batched(t, call{makers, false, env.futureWallet().create}),
			"reverts after it":      batched(t, call{makers, false, w.create}, call{env.token, false, []byte{1}}),
			"returns a megabyte":    batched(t, call{makers, true, w.create}, call{fat, true, nil}, call{fat, true, nil}),
			"writes logs until end": batched(t, env.emptyLogs(1<<40), call{makers, false, w.create}),
		} {
			env.checkFails(s, name, w.paysBy("1", factory, data), deed.CodePaymentInvalid, "deploy")
		}
		if env.nonceOf(env.gasKey) != 0 || env.moved() != 0 {
			t.Error("something was sent")
		}
	})
}

// A deployment that settles its own payment is settled once, by our transaction or not.
func TestDeploymentThatSettlesItself(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		factory := env.anyFactory()
		s := env.settler()
		w := env.futureWallet()
		makers := common.HexToAddress(devchain.WalletFactory)
		inside := batched(t, call{makers, false, w.create}, call{env.token, false, transferCall(w.signs("1"))})
		a := w.paysBy("1", factory, inside)
		env.checkFails(s, "it uses its own nonce", a, deed.CodePaymentInvalid, "used")
		// Nobody has checked this one. It cannot be sent, and nothing is lost.
		if got := <-env.settleLater(s, a); !errors.Is(got.err, settle.ErrUnsettleable) || w.deployed() || env.moved() != 0 {
			t.Errorf("got %q, %v, want that it cannot be settled", got.txHash, got.err)
		}
		// Another payment of the same wallet, made inside, is found like any other.
		both := batched(t, call{makers, false, w.create}, call{env.token, false, transferCall(w.signs("2"))})
		hash := env.settled(env.settleLater(s, w.paysBy("3", factory, both)))
		if got := env.settled(env.settleLater(s, w.signs("2"))); got != hash || env.moved() != 2 {
			t.Errorf("got %s and %s with %d transfers, want one transaction with two", hash, got, env.moved())
		}
		env.seen(s, w.signs("2"), w.signs("3"))
	})
}

// The receipt of a deployment that writes as many logs as its gas allows is read.
func TestDeploymentWithManyLogs(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		factory := env.anyFactory()
		s := env.settler()
		w := env.futureWallet()
		makers := common.HexToAddress(devchain.WalletFactory)
		noise := env.emptyLogs(2400)
		a := w.paysBy("1", factory, batched(t, call{makers, false, w.create}, noise))
		if _, err := s.Check(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
		hash := env.settled(env.settleLater(s, a))
		ours := env.signedBy(env.gasKey)
		if len(ours) != 1 || ours[0].Hash != hash {
			t.Errorf("got %s, want our own transaction of %v", hash, ours)
		}
		t.Logf("gas with 2,400 logs: %d", env.gasUsed(hash))
	})
}

// Whatever happens between the simulation and the block: a stranger deploys the wallet,
// or the money becomes stuck. Without the money there is no wallet either.
func TestDeploymentIsOvertaken(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		w := env.futureWallet()
		cfg := env.cfg
		once := func(act func()) {
			env.cfg = cfg
			env.cfg.Step = func(name string) {
				if name == "after store" && act != nil {
					act()
					act = nil
				}
			}
		}
		once(func() { env.act(devchain.WalletFactory, w.create) })
		s := env.settler()
		env.settled(env.settleLater(s, w.pays("1")))
		if !w.deployed() || env.moved() != 1 {
			t.Errorf("deployed %v, %d transfers", w.deployed(), env.moved())
		}

		// The same with a factory whose call fails then.
		factory := env.anyFactory()
		cfg = env.cfg
		w, extra := env.futureWallet(), env.pay("extra")
		makers := common.HexToAddress(devchain.WalletFactory)
		once(func() {
			env.thirdParty(extra)
			env.act(devchain.WalletFactory, w.create)
		})
		s = env.settler()
		env.settled(env.settleLater(s, w.paysBy("1", factory, batched(t, call{env.token, false, transferCall(extra)}, call{makers, false, w.create}))))

		barred := env.futureWallet()
		once(func() {
			env.act(devchain.USDC, slices.Concat(selector("blacklist(address)"), padded(barred.address)))
		})
		s = env.settler()
		for range 2 {
			if got := <-env.settleLater(s, barred.pays("1")); !errors.Is(got.err, settle.ErrReverted) {
				t.Errorf("got %q, %v, want a reverted transfer", got.txHash, got.err)
			}
		}
		if barred.deployed() || env.moved() != 3 || len(env.signedBy(env.gasKey)) != 3 {
			t.Errorf("deployed %v, %d transfers, %d transactions", barred.deployed(), env.moved(), len(env.signedBy(env.gasKey)))
		}
		if err := s.Abandon(t.Context(), barred.pays("1")); err != nil {
			t.Error(err)
		}
	})
}

// The owner of a plain wallet cannot have calls made by wrapping a signature.
func TestWrappedSignatureOfAKey(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		w := env.futureWallet()
		a := env.pay("1")
		a.Signature = wrap(common.HexToAddress(devchain.WalletFactory), w.create, a.Signature)
		if _, err := s.Check(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
		env.settled(env.settleLater(s, a))
		if w.deployed() || env.moved() != 1 {
			t.Errorf("deployed %v, %d transfers", w.deployed(), env.moved())
		}
	})
}

// A payment that was accepted before its factory was taken off the list is not settled,
// unless somebody deploys the wallet.
func TestFactoryTakenOffTheList(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		w := env.futureWallet()
		env.cfg.Network.WalletFactories = nil
		s := env.settler()
		if got := <-env.settleLater(s, w.pays("1")); !errors.Is(got.err, settle.ErrUnsettleable) || !strings.Contains(got.err.Error(), "deploy the wallet first") {
			t.Errorf("got %q, %v", got.txHash, got.err)
		}
		env.checkFails(s, "an empty list", w.pays("1"), deed.CodePaymentInvalid, "deploy the wallet first")
		env.act(devchain.WalletFactory, w.create)
		env.settled(env.settleLater(s, w.pays("1")))
	})
}
