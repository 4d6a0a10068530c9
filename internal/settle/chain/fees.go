package chain

import (
	"context"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// feeCacheTTL is how long suggested fees are used. The limit allows the base fee
// to triple in the meantime.
const feeCacheTTL = 30 * time.Second

// fees are what a transaction offers for a unit of gas, in wei.
type fees struct{ tip, limit *big.Int }

// feeCache has the last suggested fees.
type feeCache struct {
	mu    sync.Mutex // guards the fields below
	tip   *big.Int
	tipAt time.Time
	base  *big.Int
	at    time.Time // of base
}

// observeHead stores the base fee of a block that was requested for another
// reason.
func (f *feeCache) observeHead(head *block) {
	if head.BaseFee == nil {
		f.observeBaseFee(new(big.Int))
		return
	}
	f.observeBaseFee((*big.Int)(head.BaseFee))
}

func (f *feeCache) observeBaseFee(base *big.Int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.base, f.at = base, time.Now()
}

func (f *feeCache) known() (tip, base *big.Int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tip != nil && time.Since(f.tipAt) < feeCacheTTL {
		tip = f.tip
	}
	if f.base != nil && time.Since(f.at) < feeCacheTTL {
		base = f.base
	}
	return tip, base
}

// fees returns the fees to offer now.
func (r *reader) fees(ctx context.Context) (*fees, error) {
	cache := &r.s.feeCache
	tip, base := cache.known()
	if base == nil {
		head, err := r.c.block(ctx, "latest")
		if err != nil {
			return nil, fmt.Errorf("read the base fee: %w", err)
		}
		cache.observeHead(head)
		_, base = cache.known()
	}
	if tip == nil {
		var err error
		if tip, err = r.c.tip(ctx); err != nil {
			return nil, fmt.Errorf("read the priority fee: %w", err)
		}
		cache.mu.Lock()
		cache.tip, cache.tipAt = tip, time.Now()
		cache.mu.Unlock()
	}
	return r.s.offer(tip, base), nil
}

// The highest tip of a first offer: this, or so many times the base fee. An endpoint may
// suggest anything, and a tip is paid as it is offered. If a transaction needs more, it is
// sent with a higher fee later.
var maxTip = big.NewInt(1_000_000_000)

const maxTipOfBase = 10

// offer returns the tip, and a limit that allows the base fee to grow.
func (s *Settler) offer(tip, base *big.Int) *fees {
	most := new(big.Int).Mul(base, big.NewInt(maxTipOfBase))
	if most.Cmp(maxTip) < 0 {
		most = maxTip
	}
	if tip.Cmp(most) > 0 {
		tip = most
	}
	f := &fees{tip: tip, limit: new(big.Int).Mul(base, big.NewInt(3))}
	f.limit.Add(f.limit, tip)
	if limit := s.maxFee(); f.limit.Cmp(limit) > 0 {
		f.limit = limit
	}
	if f.tip.Cmp(f.limit) > 0 {
		f.tip = f.limit
	}
	return f
}

func (s *Settler) maxFee() *big.Int { return new(big.Int).SetUint64(s.Network.MaxFee) }
