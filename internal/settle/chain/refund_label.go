package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// onlyRefunds gives up the refunds of payments that have a refund with another label
// on the chain: a payment is refunded once, in part or as a whole, whatever our
// database remembers.
func (l *lane) onlyRefunds(ctx context.Context, v *view, pending []*transferAttempt, wallets []common.Address) ([]*transferAttempt, error) {
	if len(pending) == 0 {
		return nil, nil
	}
	var nonces []scanKey
	for _, t := range pending {
		others, err := l.s.otherNonces(t.refund)
		if err != nil {
			return nil, err
		}
		for _, nonce := range others {
			for _, wallet := range wallets {
				nonces = append(nonces, scanKey{wallet, nonce})
			}
		}
	}
	latest := *v
	latest.final = uint64(v.head.Number)
	used, err := l.states(ctx, &latest, nonces)
	if err != nil {
		return nil, err
	}
	var left []*transferAttempt
	each := len(nonces) / len(pending)
	for i, t := range pending {
		other := false
		for _, u := range used[i*each : (i+1)*each] {
			other = other || u
		}
		if other {
			l.resolve(t.wait, "", fmt.Errorf("%s: the payment was refunded before, with another label: investigate it", t.purpose))
			continue
		}
		left = append(left, t)
	}
	return left, nil
}

// otherNonces returns the nonces that the payment would be refunded with under other
// labels.
func (s *Settler) otherNonces(r settle.Refund) (nonces []common.Hash, err error) {
	hash, err := parseNonce(r.Nonce)
	if err != nil {
		return nil, err
	}
	for _, label := range settle.RefundLabels {
		if label != r.Label {
			nonces = append(nonces, RefundNonce(label, s.Network.ChainID, s.token, addressOf(r.Payer), hash))
		}
	}
	return nonces, nil
}
