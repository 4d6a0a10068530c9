package chain_test

import (
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/settle"
)

// A mandate is checked as the token will check it: by the wallet's code if it has any,
// else by its key; and its nonce must be unused.
func TestCheckSigned(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		later := func(a settle.Authorization) settle.Authorization {
			a.ValidAfter, a.ValidBefore = time.Now().AddDate(4, 0, 0).Unix(), time.Now().AddDate(4, 2, 0).Unix()
			return a
		}
		owner, ownerWallet := newKey(t)
		stranger, _ := newKey(t)
		plain := later(env.payFrom(owner, "1"))
		if err := s.CheckSigned(t.Context(), env.signed(owner, plain)); err != nil {
			t.Errorf("a plain wallet, which is empty: %v", err)
		}
		if _, err := s.CheckDue(t.Context(), env.signed(owner, plain), nil); !errors.Is(err, settle.ErrNotYet) || deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("before its time: got %v", err)
		}
		refused := func(what string, a settle.Authorization) {
			t.Helper()
			if err := s.CheckSigned(t.Context(), a); deed.CodeOf(err) != deed.CodePaymentInvalid {
				t.Errorf("%s: got %v", what, err)
			}
		}
		refused("a stranger's signature", env.signed(stranger, plain))
		b := &testChain{Chain: env.Chain}
		w := b.walletOf(t, ownerWallet, [32]byte{1})
		coded := plain
		coded.Payer = w
		refused("a wallet that is not on the chain", env.signed(owner, coded))
		env.act(devchain.WalletFactory, b.createWallet(t, ownerWallet, [32]byte{1}))
		if err := s.CheckSigned(t.Context(), env.signed(owner, coded)); err != nil {
			t.Errorf("a wallet with code: %v", err)
		}
		refused("a stranger's signature for a wallet with code", env.signed(stranger, coded))
		burner := coded
		burner.Payer = b.deploy(t, "5b600056")
		refused("a wallet that burns all gas", env.signed(owner, burner))
		used := later(env.pay("used"))
		env.cancel(env.signed(env.payer, used))
		if err := s.CheckSigned(t.Context(), env.signed(env.payer, used)); !errors.Is(err, settle.ErrSpent) {
			t.Errorf("cancelled: got %v", err)
		}
	})
}

// A mandate that pays to a treasury that we used when it was signed is still good, and one
// that pays to a third party is not.
func TestMandateForAFormerTreasury(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.settler() // its treasury is stored
		owner, _ := newKey(t)
		a := env.payFrom(owner, "1")
		a.ValidAfter, a.ValidBefore = time.Now().AddDate(1, 0, 0).Unix(), time.Now().AddDate(1, 2, 0).Unix()
		_, treasury := newKey(t)
		env.cfg.PayTo = addressOf(treasury)
		s := env.settler()
		if err := s.CheckSigned(t.Context(), env.signed(owner, a)); err != nil {
			t.Errorf("a former treasury: %v", err)
		}
		a.PayTo = "0x00000000000000000000000000000000000000cc"
		if err := s.CheckSigned(t.Context(), env.signed(owner, a)); err == nil {
			t.Error("a third party is accepted")
		}
	})
}

// When a mandate is due, it may be valid for months more, and is settled like every
// payment, by a plain wallet and by one with code.
func TestMandateIsSettled(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		owner, ownerWallet := newKey(t)
		b := &testChain{Chain: env.Chain}
		w := b.walletOf(t, ownerWallet, [32]byte{1})
		env.act(devchain.WalletFactory, b.createWallet(t, ownerWallet, [32]byte{1}))
		for _, payer := range []deed.Wallet{ownerWallet, w} {
			a := env.payFrom(owner, "1")
			a.Payer, a.ValidAfter, a.ValidBefore = payer, time.Now().Add(-time.Hour).Unix(), time.Now().AddDate(0, 2, 0).Unix()
			a = env.signed(owner, a)
			if _, err := s.CheckDue(t.Context(), a, nil); deed.CodeOf(err) != deed.CodePaymentInsufficient {
				t.Errorf("an empty wallet: got %v", err)
			}
			env.give(payer, int64(price))
			if _, err := s.CheckDue(t.Context(), a, nil); err != nil {
				t.Error(err)
			}
			if _, err := s.Check(t.Context(), a, nil); deed.CodeOf(err) != deed.CodePaymentInvalid {
				t.Errorf("as an ordinary payment: got %v", err)
			}
			if _, err := s.Settle(t.Context(), a); err != nil {
				t.Error(err)
			}
			if _, err := s.CheckDue(t.Context(), a, nil); !errors.Is(err, settle.ErrAlreadyPaid) {
				t.Errorf("settled before: got %v", err)
			}
		}
	})
}
