package chain

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// The roles of our wallets in the store.
const (
	roleTreasury = "treasury"
	roleRefund   = "refund"
	roleGas      = "gas"
)

// ownWallets are all wallets that were ever ours: an earlier treasury may still
// receive money, and an earlier refund wallet may have paid a refund.
type ownWallets struct{ treasuries, refunds, gas []common.Address }

// addWallets stores the configured wallets and reads all.
func (s *Settler) addWallets(ctx context.Context) error {
	for role, a := range map[string]common.Address{roleTreasury: s.PayTo, roleRefund: s.refundWallet(), roleGas: s.gasWallet()} {
		if err := s.Store.AddWallet(ctx, role, walletAt(a), s.Now()); err != nil {
			return err
		}
	}
	_, err := s.wallets(ctx)
	return err
}

// wallets reads our wallets from the store, because another node may have added
// one.
func (s *Settler) wallets(ctx context.Context) (*ownWallets, error) {
	byRole, err := s.Store.Wallets(ctx)
	if err != nil {
		return nil, fmt.Errorf("read our wallets: %w", err)
	}
	own := &ownWallets{addresses(byRole[roleTreasury]), addresses(byRole[roleRefund]), addresses(byRole[roleGas])}
	s.own.Store(own)
	return own, nil
}

func addresses(all []deed.Wallet) (out []common.Address) {
	for _, w := range all {
		out = append(out, addressOf(w))
	}
	return out
}

func topics(all []common.Address) (out []common.Hash) {
	for _, a := range all {
		out = append(out, topicOf(a))
	}
	return out
}

// LastWallets returns the wallets that were added to the store last; all are "" if the
// service has never taken payments.
func LastWallets(ctx context.Context, store WalletStore) (treasury, gas, refund deed.Wallet, err error) {
	byRole, err := store.Wallets(ctx)
	if err != nil {
		return "", "", "", fmt.Errorf("read our wallets: %w", err)
	}
	last := func(role string) (w deed.Wallet) {
		if all := byRole[role]; len(all) > 0 {
			w = all[len(all)-1]
		}
		return w
	}
	return last(roleTreasury), last(roleGas), last(roleRefund), nil
}

// isTreasury reports whether the address is or was our treasury. One that is not
// cached is looked up in the store.
func (s *Settler) isTreasury(ctx context.Context, a common.Address) (bool, error) {
	if slices.Contains(s.own.Load().treasuries, a) {
		return true, nil
	}
	own, err := s.wallets(ctx)
	if err != nil {
		return false, err
	}
	return slices.Contains(own.treasuries, a), nil
}

// SentByUs reports whether one of our gas wallets sent the transaction.
func (s *Settler) SentByUs(ctx context.Context, txHash string) (bool, error) {
	own, err := s.wallets(ctx)
	if err != nil {
		return false, err
	}
	tx, err := s.Client.transaction(ctx, hashOf(txHash))
	if err != nil {
		return false, fmt.Errorf("find the sender of %s: %w", txHash, err)
	}
	if tx == nil {
		return false, fmt.Errorf("find the sender of %s: the endpoint does not know it", txHash)
	}
	return slices.Contains(own.gas, tx.From), nil
}
