package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// An identity identifies a chain. Two chains may have the same ID, as forks do.
type identity struct {
	id      uint64
	genesis common.Hash
}

// ErrWrongChain is the error of an endpoint that is on another chain than it should be.
var ErrWrongChain = errors.New("it is on another chain than the others")

// verify compares the endpoint's chain with ours, and how far it has followed it.
func (c *Client) verify(ctx context.Context, e *endpoint) error {
	if err := c.checkChain(ctx, e); err != nil {
		return err
	}
	if err := c.requestPlain(ctx, e, new(newestBlock), "eth_getBlockByNumber", "latest", false); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.logged != "" {
		loggerOf(&c.endpoints.log).Info("an RPC endpoint is used again", "endpoint", e.number)
	}
	e.verified, e.down, e.logged = true, false, ""
	e.probeAt = time.Now().Add(c.probeInterval())
	return nil
}

// checkChain compares the endpoint's chain with ours, once for each connection. What one
// that was busy has returned is not requested again.
func (c *Client) checkChain(ctx context.Context, e *endpoint) error {
	e.mu.Lock()
	same := e.sameChain
	e.mu.Unlock()
	if same {
		return nil
	}
	id, err := c.chainOf(ctx, e)
	if err != nil {
		return err
	}
	var first *block
	if err := c.requestPlain(ctx, e, &first, "eth_getBlockByNumber", "0x0", false); err != nil {
		return err
	}
	if first == nil {
		return fmt.Errorf("%w: it has no first block", ErrWrongChain)
	}
	if err := c.endpoints.compare(identity{id, first.Hash}, c.ChainID, time.Unix(int64(first.Time), 0)); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sameChain = true
	return nil
}

// chainOf returns the endpoint's chain ID, which is requested once for each
// connection.
func (c *Client) chainOf(ctx context.Context, e *endpoint) (uint64, error) {
	e.mu.Lock()
	known := e.chainID
	e.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	var result quantity
	if err := c.requestPlain(ctx, e, &result, "eth_chainId"); err != nil {
		return 0, err
	}
	id := uint64(result)
	e.mu.Lock()
	e.chainID = &id
	e.mu.Unlock()
	return id, nil
}

func (p *endpoints) compare(got identity, chainID uint64, began time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if chainID != 0 && got.id != chainID {
		return fmt.Errorf("%w: its id is %d, want %d", ErrWrongChain, got.id, chainID)
	}
	if p.chain == nil {
		p.chain, p.began = &got, began
	}
	if got != *p.chain {
		return fmt.Errorf("%w: its id is %d and its first block %s, want %d and %s", ErrWrongChain, got.id, got.genesis, p.chain.id, p.chain.genesis)
	}
	return nil
}

// verifyAll verifies every endpoint. It fails when none can be used and one of them
// belongs to another chain. Endpoints that only do not respond are tried again by the
// first call.
func (c *Client) verifyAll(ctx context.Context) error {
	var errs []error
	for _, e := range c.endpoints.all {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		err := c.verify(ctx, e)
		cancel()
		if err != nil && !isBusy(err) {
			c.fail(e, err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("endpoint %d: %w", e.number, err))
		}
	}
	all := errors.Join(errs...)
	if len(errs) == len(c.endpoints.all) && errors.Is(all, ErrWrongChain) {
		return all
	}
	return nil
}
