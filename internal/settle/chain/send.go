package chain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
)

// maxBids bounds how often one transaction is sent with a higher fee: the last
// bid is eleven times the first.
const maxBids = 20

// Tick sends everything that we signed and the chain has not mined, and raises
// the fee of what is stuck. It may be called at any time, by any number of
// processes: a nonce is mined once. A worker calls it when nobody waits.
func (s *Settler) Tick(ctx context.Context) error {
	return errors.Join(s.push(ctx, s.HotKey), s.push(ctx, s.RefundKey))
}

// push sends what one account has waiting. What is mined is told by the chain
// alone and never written down, so a reorganisation needs no care of its own:
// what it dropped is waiting again.
func (s *Settler) push(ctx context.Context, key *ecdsa.PrivateKey) error {
	from := crypto.PubkeyToAddress(key.PublicKey)
	mined, err := s.Client.count(ctx, from, "latest")
	if err != nil {
		return fmt.Errorf("count our transactions: %w", err)
	}
	waiting, err := s.Store.Unmined(ctx, walletAt(from), mined)
	if err != nil {
		return err
	}
	var errs []error
	for len(waiting) > 0 && ctx.Err() == nil {
		n := 1
		for n < len(waiting) && waiting[n].Nonce == waiting[0].Nonce {
			n++
		}
		errs = append(errs, s.pushOne(ctx, key, waiting[:n]))
		waiting = waiting[n:]
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// pushOne sends the dearest of the transactions that share a nonce.
func (s *Settler) pushOne(ctx context.Context, key *ecdsa.PrivateKey, bids []deed.Transaction) error {
	var best *types.Transaction
	last := bids[len(bids)-1]
	for _, bid := range bids {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(bid.Raw); err != nil {
			return fmt.Errorf("read transaction %s: %w", bid.Hash, err)
		}
		if best == nil || tx.GasFeeCap().Cmp(best.GasFeeCap()) > 0 {
			best = tx
		}
	}
	raised := higher(best.GasFeeCap(), new(big.Int))
	stuck := !s.Now().Before(last.SignedAt.Add(s.BumpAfter))
	if stuck && len(bids) < maxBids && raised.Cmp(s.maxFee()) <= 0 {
		dearer, err := s.outbid(ctx, key, best)
		if err != nil {
			return fmt.Errorf("raise the fee of %s: %w", best.Hash(), err)
		}
		return s.deliver(ctx, dearer)
	}
	raw, err := best.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encode transaction %s: %w", best.Hash(), err)
	}
	return s.deliver(ctx, raw)
}

// deliver sends a transaction. What the endpoint says to it proves nothing in
// either direction, so nothing is decided by it: the logs tell later. It is
// returned for people to read, unless it says what it mostly says.
func (s *Settler) deliver(ctx context.Context, raw []byte) error {
	err := s.Client.send(ctx, raw)
	if e, ok := errors.AsType[*RemoteError](err); ok {
		for _, usual := range []string{"already known", "nonce too low", "underpriced"} {
			if strings.Contains(e.Message, usual) {
				return nil
			}
		}
	}
	return err
}

// outbid signs the same transaction with a fee that replaces the old one, and
// writes it down. Nodes ask for a tenth more; we give an eighth.
func (s *Settler) outbid(ctx context.Context, key *ecdsa.PrivateKey, old *types.Transaction) (raw []byte, err error) {
	tip, most, err := s.fees(ctx)
	if err != nil {
		return nil, err
	}
	dearer, err := s.signed(key, &types.DynamicFeeTx{
		ChainID: old.ChainId(), Nonce: old.Nonce(), Gas: old.Gas(), To: old.To(), Data: old.Data(),
		GasTipCap: higher(old.GasTipCap(), tip), GasFeeCap: higher(old.GasFeeCap(), most),
	})
	if err != nil {
		return nil, err
	}
	return dearer.Raw, s.Store.Outbid(ctx, dearer)
}

// higher returns the wanted fee, and at least an eighth more than the old one.
func higher(old, wanted *big.Int) *big.Int {
	least := new(big.Int).Div(old, big.NewInt(8))
	least.Add(least, old).Add(least, big.NewInt(1))
	if least.Cmp(wanted) > 0 {
		return least
	}
	return wanted
}

// fees returns the tip, and the most we pay for gas: room for the base fee to
// grow threefold.
func (s *Settler) fees(ctx context.Context) (tip, most *big.Int, err error) {
	if tip, err = s.Client.tip(ctx); err != nil {
		return nil, nil, fmt.Errorf("ask for the tip: %w", err)
	}
	head, err := s.Client.block(ctx, "latest")
	if err != nil {
		return nil, nil, fmt.Errorf("ask for the base fee: %w", err)
	}
	most = new(big.Int).Set(tip)
	if head.BaseFee != nil {
		most.Add(most, new(big.Int).Mul((*big.Int)(head.BaseFee), big.NewInt(3)))
	}
	if limit := s.maxFee(); most.Cmp(limit) > 0 {
		most = limit
	}
	if tip.Cmp(most) > 0 {
		tip = most
	}
	return tip, most, nil
}

func (s *Settler) maxFee() *big.Int { return new(big.Int).SetUint64(s.MaxFee) }
