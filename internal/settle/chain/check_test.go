package chain_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func TestAuthorizationsAreChecked(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		now := time.Now().Unix()
		barredKey, barred := newKey(t)
		env.give(barred, int64(price))
		if err := env.Blacklist(t.Context(), string(barred), true); err != nil {
			t.Fatal(err)
		}
		env.cancel(env.pay("cancelled"))
		poor, _ := newKey(t)
		// with signs a payment after a change, without only makes the change.
		with := func(change func(*settle.Authorization)) settle.Authorization {
			a := env.pay("1")
			change(&a)
			return env.signed(env.payer, a)
		}
		without := func(change func(*settle.Authorization)) settle.Authorization {
			a := env.pay("1")
			change(&a)
			return a
		}
		const invalid, good = deed.CodePaymentInvalid, deed.Code("")
		for name, tt := range map[string]struct {
			a    settle.Authorization
			want deed.Code
		}{
			"good":                {env.pay("1"), good},
			"v of 0 or 1":         {without(func(a *settle.Authorization) { a.Signature[64] -= 27 }), good},
			"64 minutes ahead":    {with(func(a *settle.Authorization) { a.ValidBefore = now + 64*60 }), good},
			"another payee":       {with(func(a *settle.Authorization) { a.PayTo = barred }), invalid},
			"nothing":             {with(func(a *settle.Authorization) { a.Amount = 0 }), invalid},
			"less than nothing":   {without(func(a *settle.Authorization) { a.Amount = -1 }), invalid},
			"another chain":       {without(func(a *settle.Authorization) { a.Asset.ChainID = 8453 }), invalid},
			"another token":       {without(func(a *settle.Authorization) { a.Asset.Token = a.Payer }), invalid},
			"one more":            {without(func(a *settle.Authorization) { a.Amount++ }), invalid},
			"expired":             {with(func(a *settle.Authorization) { a.ValidBefore = now - 1 }), invalid},
			"10 seconds ahead":    {with(func(a *settle.Authorization) { a.ValidBefore = now + 10 }), invalid},
			"67 minutes ahead":    {with(func(a *settle.Authorization) { a.ValidBefore = now + 67*60 }), invalid},
			"the year 2100":       {with(func(a *settle.Authorization) { a.ValidBefore = 4102444800 }), invalid},
			"not yet valid":       {with(func(a *settle.Authorization) { a.ValidAfter = now + 60 }), invalid},
			"a short nonce":       {without(func(a *settle.Authorization) { a.Nonce = a.Nonce[:64] }), invalid},
			"a nonce in capitals": {without(func(a *settle.Authorization) { a.Nonce = "0x" + strings.ToUpper(a.Nonce[2:]) }), invalid},
			"another payer":       {without(func(a *settle.Authorization) { a.Payer = walletAt(crypto.PubkeyToAddress(env.refundKey.PublicKey)) }), invalid},
			"a changed bit":       {without(func(a *settle.Authorization) { a.Signature[3] ^= 1 }), invalid},
			"no signature":        {without(func(a *settle.Authorization) { a.Signature = nil }), invalid},
			"66 bytes":            {without(func(a *settle.Authorization) { a.Signature = append(a.Signature, 0) }), invalid},
			"long signature":      {without(func(a *settle.Authorization) { a.Signature = make([]byte, 5000) }), invalid},
			"wrapped":             {without(func(a *settle.Authorization) { a.Signature = wrap(env.token, nil, a.Signature) }), good},
			"its twin":            {without(func(a *settle.Authorization) { a.Signature = twin(a.Signature) }), invalid},
			"barred":              {env.payFrom(barredKey, "1"), invalid},
			"cancelled":           {env.pay("cancelled"), invalid},
			"an empty wallet":     {env.payFrom(poor, "1"), deed.CodePaymentInsufficient},
		} {
			if _, err := s.Check(t.Context(), tt.a, nil); deed.CodeOf(err) != tt.want {
				t.Errorf("%s: got %v, want %q", name, err, tt.want)
			}
		}
		if env.nonceOf(env.gasKey) != 0 || env.moved() != 0 {
			t.Error("a check changed something")
		}
		env.act(devchain.USDC, selector("pause()"))
		if _, err := s.Check(t.Context(), env.pay("1"), nil); deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("a paused token: got %v, want no code", err)
		}
		env.proxy.cut()
		if _, err := s.Check(t.Context(), env.pay("1"), nil); deed.CodeOf(err) != deed.CodeUnavailable || strings.Contains(err.Error(), env.url) {
			t.Errorf("no chain: got %v, want no code and no address", err)
		}
	})
}

// twin returns the other signature that says the same, with the high s.
func twin(sig []byte) []byte {
	n := crypto.S256().Params().N
	new(big.Int).Sub(n, new(big.Int).SetBytes(sig[32:64])).FillBytes(sig[32:64])
	sig[64] ^= 27 ^ 28
	return sig
}

func TestWalletOfCodePays(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		b := &testChain{Chain: env.Chain}
		owner, ownerWallet := newKey(t)
		w := b.walletOf(t, ownerWallet, [32]byte{1})
		env.act(devchain.WalletFactory, b.createWallet(t, ownerWallet, [32]byte{1}))
		env.give(w, int64(price))
		a := env.payFrom(owner, "1")
		a.Payer = w
		a = env.signed(owner, a)
		if _, err := s.Check(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
		// It waits together with plain wallets, and goes alone.
		_, all := env.together(s, env.pay("1"), a, env.pay("2"), env.pay("3"))
		hash, other := env.settled(all[0]), env.settled(all[1])
		if env.settled(all[2]) != other || hash == other {
			t.Errorf("got %s with the plain wallets' %s", hash, other)
		}
		thirdParty, _ := newKey(t)
		bad := env.payFrom(owner, "2")
		bad.Payer = w
		if _, err := s.Check(t.Context(), env.signed(thirdParty, bad), nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("a stranger's signature: got %v, want %s", err, deed.CodePaymentInvalid)
		}
		// It accepts what ends with 1, as a Safe does whose owner has approved the hash before.
		approver := b.deploy(t, "60a43560f81c600114631626ba7e60e01b0260005260206000f3")
		env.give(approver, int64(price))
		approved := env.pay("approved")
		approved.Payer, approved.Signature = approver, append(make([]byte, 64), 1)
		if _, err := s.Check(t.Context(), approved, nil); err != nil {
			t.Errorf("a signature that ends with 1: %v", err)
		}
		env.settled(env.settleLater(s, approved))
		burner := b.deploy(t, "5b600056")
		env.give(burner, int64(price))
		bad.Payer = burner
		if _, err := s.Check(t.Context(), env.signed(owner, bad), nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("one that burns all gas: got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

// A wallet of code that accepts its signature in one simulation, and not in the other, is given
// up as any payment that cannot be settled: it does not wait until it expires.
func TestWalletThatTellsSimulationsApart(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		b := &testChain{Chain: env.Chain}
		differs := 0
		for gas := 628_000; gas <= 676_000; gas += 8_000 {
			// It accepts every signature when it has more gas than this.
			w := b.deploy(t, fmt.Sprintf("63%08x5a11631626ba7e60e01b0260005260206000f3", gas))
			env.give(w, int64(price))
			a := env.pay(fmt.Sprint(gas))
			a.Payer = w
			_, err := s.Check(t.Context(), a, nil)
			got := <-env.settleLater(s, a)
			switch {
			case got.err != nil && !errors.Is(got.err, settle.ErrUnsettleable):
				t.Errorf("with %d gas: got %q, %v, want %v", gas, got.txHash, got.err, settle.ErrUnsettleable)
			case err == nil && got.err != nil:
				differs++
			}
		}
		if differs == 0 {
			t.Error("every wallet accepts its signature always or never")
		}
	})
}

// A plain wallet that borrows code (EIP-7702) is judged by that code, although
// its own key has signed.
func TestWalletThatBorrowsCode(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		no := (&testChain{Chain: env.Chain}).deploy(t, "63ffffffff60e01b60005260206000f3")
		auth, err := types.SignSetCode(env.payer, types.SetCodeAuthorization{
			ChainID: *uint256.NewInt(devchain.ChainID), Address: common.HexToAddress(string(no)), Nonce: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := types.MustSignNewTx(env.payer, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.SetCodeTx{
			ChainID: uint256.NewInt(devchain.ChainID), GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9),
			Gas: 200_000, AuthList: []types.SetCodeAuthorization{auth},
		})
		raw, err := tx.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var hash common.Hash
		env.rpc(&hash, "eth_sendRawTransaction", hexutil.Encode(raw))
		env.wait(func() bool { return env.nonceOf(env.payer) == 2 })
		if _, err := s.Check(t.Context(), env.pay("1"), nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

func TestOpenMakesSure(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	for name, change := range map[string]func(*chain.Config){
		"another chain":   func(c *chain.Config) { c.Network.ChainID = 8453 },
		"another name":    func(c *chain.Config) { c.Network.Token.Name = "USD Coin" },
		"another version": func(c *chain.Config) { c.Network.Token.Version = "1" },
		"another token":   func(c *chain.Config) { c.Network.Token.Address = c.Network.Multicall },
		"one key for two": func(c *chain.Config) { c.RefundSigner = c.GasSigner },
		"a bad factory":   func(c *chain.Config) { c.Network.WalletFactories = []deed.Wallet{c.Network.Multicall} },
		"the treasury's":  func(c *chain.Config) { c.PayTo = addressOf(c.GasSigner.Address()) },
	} {
		cfg := env.cfg
		change(&cfg)
		if _, err := chain.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: it opened", name)
		}
	}
}

// Money on another chain may have moved there, so this chain does not refuse it.
func TestSettleForAnotherChain(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	a := env.pay("1")
	a.Asset.ChainID = 8453
	if hash, err := env.settler().Settle(t.Context(), a); err == nil || settle.Refused(err) {
		t.Errorf("got %q, %v, want an open outcome", hash, err)
	}
	if env.moved() != 0 || len(env.signedBy(env.gasKey)) != 0 {
		t.Error("something was signed")
	}
}

// Which payers have code is asked for any number of them: one call takes no more than the
// initcode of a contract may have (EIP-3860).
func TestCodeOfManyPayers(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	s := env.settler()
	accounts := make([]common.Address, 2000)
	for i := range accounts {
		accounts[i] = common.BigToAddress(big.NewInt(int64(0x10000 + i)))
	}
	accounts[0], accounts[700], accounts[1999] = env.token, env.token, env.token
	code, err := s.Client.HasCode(t.Context(), accounts)
	if err != nil || len(code) != len(accounts) {
		t.Fatalf("got %d, %v", len(code), err)
	}
	for i, has := range code {
		if has != (accounts[i] == env.token) {
			t.Errorf("account %d: got %t", i, has)
		}
	}
}
