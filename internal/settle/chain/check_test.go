package chain_test

import (
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
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func TestCheck(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		now := time.Now().Unix()
		barredKey, barred := newKey(t)
		h.give(barred, int64(price))
		if err := h.Blacklist(t.Context(), string(barred), true); err != nil {
			t.Fatal(err)
		}
		h.cancel(h.pay("cancelled"))
		poor, _ := newKey(t)
		// with signs a payment after a change, without only makes the change.
		with := func(change func(*deed.Authorization)) deed.Authorization {
			a := h.pay("1")
			change(&a)
			return h.signed(h.payer, a)
		}
		without := func(change func(*deed.Authorization)) deed.Authorization {
			a := h.pay("1")
			change(&a)
			return a
		}
		const invalid, good = deed.CodePaymentInvalid, deed.Code("")
		for name, tt := range map[string]struct {
			a    deed.Authorization
			want deed.Code
		}{
			"good":                {h.pay("1"), good},
			"v of 0 or 1":         {without(func(a *deed.Authorization) { a.Signature[64] -= 27 }), good},
			"64 minutes ahead":    {with(func(a *deed.Authorization) { a.ValidBefore = now + 64*60 }), good},
			"another payee":       {with(func(a *deed.Authorization) { a.PayTo = barred }), invalid},
			"nothing":             {with(func(a *deed.Authorization) { a.Amount = 0 }), invalid},
			"less than nothing":   {without(func(a *deed.Authorization) { a.Amount = -1 }), invalid},
			"one more":            {without(func(a *deed.Authorization) { a.Amount++ }), invalid},
			"expired":             {with(func(a *deed.Authorization) { a.ValidBefore = now - 1 }), invalid},
			"10 seconds ahead":    {with(func(a *deed.Authorization) { a.ValidBefore = now + 10 }), invalid},
			"67 minutes ahead":    {with(func(a *deed.Authorization) { a.ValidBefore = now + 67*60 }), invalid},
			"the year 2100":       {with(func(a *deed.Authorization) { a.ValidBefore = 4102444800 }), invalid},
			"not yet valid":       {with(func(a *deed.Authorization) { a.ValidAfter = now + 60 }), invalid},
			"a short nonce":       {without(func(a *deed.Authorization) { a.Nonce = a.Nonce[:64] }), invalid},
			"a nonce in capitals": {without(func(a *deed.Authorization) { a.Nonce = "0x" + strings.ToUpper(a.Nonce[2:]) }), invalid},
			"another payer":       {without(func(a *deed.Authorization) { a.Payer = walletAt(crypto.PubkeyToAddress(h.cfg.RefundKey.PublicKey)) }), invalid},
			"a changed bit":       {without(func(a *deed.Authorization) { a.Signature[3] ^= 1 }), invalid},
			"no signature":        {without(func(a *deed.Authorization) { a.Signature = nil }), invalid},
			"66 bytes":            {without(func(a *deed.Authorization) { a.Signature = append(a.Signature, 0) }), invalid},
			"long signature":      {without(func(a *deed.Authorization) { a.Signature = make([]byte, 5000) }), invalid},
			"wrapped":             {without(func(a *deed.Authorization) { a.Signature = wrap(h.cfg.USDC, nil, a.Signature) }), invalid},
			"its twin":            {without(func(a *deed.Authorization) { a.Signature = twin(a.Signature) }), invalid},
			"barred":              {h.payFrom(barredKey, "1"), invalid},
			"cancelled":           {h.pay("cancelled"), invalid},
			"an empty wallet":     {h.payFrom(poor, "1"), deed.CodePaymentInsufficient},
		} {
			if err := s.Check(t.Context(), tt.a); deed.CodeOf(err) != tt.want {
				t.Errorf("%s: got %v, want %q", name, err, tt.want)
			}
		}
		if h.nonceOf(h.cfg.HotKey) != 0 || h.moved() != 0 {
			t.Error("a check changed something")
		}
		h.act(devchain.USDC, selector("pause()"))
		if err := s.Check(t.Context(), h.pay("1")); deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("a paused token: got %v, want no code", err)
		}
		h.way.cut()
		if err := s.Check(t.Context(), h.pay("1")); deed.CodeOf(err) != deed.CodeUnavailable || strings.Contains(err.Error(), h.url) {
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
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		b := &bench{Chain: h.Chain}
		owner, ownerWallet := newKey(t)
		w := b.walletOf(t, ownerWallet, [32]byte{1})
		h.act(devchain.WalletFactory, b.createWallet(t, ownerWallet, [32]byte{1}))
		h.give(w, int64(price))
		a := h.payFrom(owner, "1")
		a.Payer = w
		a = h.signed(owner, a)
		if err := s.Check(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		// It waits together with plain wallets, and goes alone.
		_, all := h.together(s, h.pay("1"), a, h.pay("2"), h.pay("3"))
		hash, other := h.settled(all[0]), h.settled(all[1])
		if h.settled(all[2]) != other || hash == other {
			t.Errorf("got %s with the plain wallets' %s", hash, other)
		}
		stranger, _ := newKey(t)
		bad := h.payFrom(owner, "2")
		bad.Payer = w
		if err := s.Check(t.Context(), h.signed(stranger, bad)); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("a stranger's signature: got %v, want %s", err, deed.CodePaymentInvalid)
		}
		burner := b.deploy(t, "5b600056")
		h.give(burner, int64(price))
		bad.Payer = burner
		if err := s.Check(t.Context(), h.signed(owner, bad)); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("one that burns all gas: got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

// A plain wallet that borrows code (EIP-7702) is judged by that code, although
// its own key has signed.
func TestWalletThatBorrowsCode(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		no := (&bench{Chain: h.Chain}).deploy(t, "63ffffffff60e01b60005260206000f3")
		auth, err := types.SignSetCode(h.payer, types.SetCodeAuthorization{
			ChainID: *uint256.NewInt(devchain.ChainID), Address: common.HexToAddress(string(no)), Nonce: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := types.MustSignNewTx(h.payer, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.SetCodeTx{
			ChainID: uint256.NewInt(devchain.ChainID), GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9),
			Gas: 200_000, AuthList: []types.SetCodeAuthorization{auth},
		})
		raw, err := tx.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var hash common.Hash
		h.rpc(&hash, "eth_sendRawTransaction", hexutil.Encode(raw))
		h.wait(func() bool { return h.nonceOf(h.payer) == 2 })
		if err := s.Check(t.Context(), h.pay("1")); deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v, want %s", err, deed.CodePaymentInvalid)
		}
	})
}

func TestOpenMakesSure(t *testing.T) {
	h := newHouse(t, sqldbtest.SQLite(t))
	for name, change := range map[string]func(*chain.Config){
		"another chain":   func(c *chain.Config) { c.ChainID = 8453 },
		"another name":    func(c *chain.Config) { c.Name = "USD Coin" },
		"another version": func(c *chain.Config) { c.Version = "1" },
		"another token":   func(c *chain.Config) { c.USDC = c.Multicall },
		"one key for two": func(c *chain.Config) { c.RefundKey = c.HotKey },
		"the treasury's":  func(c *chain.Config) { c.PayTo = crypto.PubkeyToAddress(c.HotKey.PublicKey) },
	} {
		cfg := h.cfg
		change(&cfg)
		if _, err := chain.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: it opened", name)
		}
	}
}

func TestDefaultDepth(t *testing.T) {
	for amount, want := range map[deed.USDC]uint64{100_000: 1, 100_001: 5, 50_000_000: 5, 50_000_001: chain.Safe} {
		if got := chain.DefaultDepth(amount); got != want {
			t.Errorf("%s: got %d, want %d", amount, got, want)
		}
	}
}
