package chain

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// Refunded implements settle.RefundFinder: it reports whether one of our wallets
// has refunded the payment with the nonce, whatever our database has stored.
func (s *Settler) Refunded(ctx context.Context, r settle.Refund) (bool, error) {
	wallet, _, err := s.refundedBy(ctx, r)
	return wallet != nil, err
}

// RefundedAll implements registration.RefundedPayments.
func (s *Settler) RefundedAll(ctx context.Context, all []settle.Refund) (refunded []bool, err error) {
	for some := range slices.Chunk(all, maxBatch) {
		wallets, _, err := s.refundedByAny(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, w := range wallets {
			refunded = append(refunded, w != nil)
		}
	}
	return refunded, nil
}

// RefundedAmount implements settle.RefundFinder.
func (s *Settler) RefundedAmount(ctx context.Context, r settle.Refund) (deed.USDC, error) {
	wallet, nonce, err := s.refundedBy(ctx, r)
	if err != nil || wallet == nil {
		return 0, err
	}
	final, err := s.reads.lastFinal(ctx)
	if err != nil {
		return 0, err
	}
	payer := addressOf(r.Payer)
	u, err := s.reads.spentOn(ctx, *wallet, nonce, 0, final, []common.Address{payer})
	if err != nil {
		return 0, fmt.Errorf("read the refund of %s of %s: %w", r.Nonce, r.Payer, err)
	}
	if u.cancelled || u.to != payer {
		return 0, fmt.Errorf("transaction %s has used the nonce of the refund of %s of %s for something else: investigate it", u.txHash, r.Nonce, r.Payer)
	}
	return u.amount, nil
}

// refundedBy returns which of our wallets has used the nonce of a refund in the latest
// block, or nil, and that nonce.
func (s *Settler) refundedBy(ctx context.Context, r settle.Refund) (*common.Address, common.Hash, error) {
	wallets, nonces, err := s.refundedByAny(ctx, []settle.Refund{r})
	if err != nil {
		return nil, common.Hash{}, fmt.Errorf("check whether %s of %s was refunded: %w", r.Nonce, r.Payer, err)
	}
	return wallets[0], nonces[0], nil
}

// refundedByAny is refundedBy for several refunds, in one call.
func (s *Settler) refundedByAny(ctx context.Context, all []settle.Refund) (wallets []*common.Address, nonces []common.Hash, err error) {
	own, err := s.wallets(ctx)
	if err != nil {
		return nil, nil, err
	}
	var members []batchCall
	for _, r := range all {
		hash, err := parseNonce(r.Nonce)
		if err != nil {
			return nil, nil, err
		}
		nonce := RefundNonce(r.Label, s.Network.ChainID, s.token, addressOf(r.Payer), hash)
		nonces = append(nonces, nonce)
		for _, wallet := range own.refunds {
			members = append(members, batchCall{s.token, true, pack(tokenABI, "authorizationState", wallet, nonce)})
		}
	}
	q := callMsg{from: s.refundWallet(), to: s.multicall, gas: stateGas * uint64(len(members)+1)}
	results, err := s.Client.callBatch(ctx, q, members, "latest")
	if err != nil {
		return nil, nil, err
	}
	wallets = make([]*common.Address, len(all))
	for i, a := range results {
		used, err := a.number()
		if err != nil {
			return nil, nil, err
		}
		if used.Sign() != 0 {
			wallets[i/len(own.refunds)] = &own.refunds[i%len(own.refunds)]
		}
	}
	return wallets, nonces, nil
}
