package app

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/signer/remote"
)

// signerTimeout is how long a signer may take to say that it is there.
const signerTimeout = time.Second

// remoteSigners are the signers of our wallets at another service. While it does not
// answer, no new payment is requested; what was paid waits.
type remoteSigners struct {
	all    []*remote.Signer
	failed atomic.Pointer[error] // why nothing can be signed; nil while it can
}

// failure returns why nothing can be signed now; nil if it can.
func (r *remoteSigners) failure() error {
	if r == nil {
		return nil
	}
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// check asks the service for every key. It reports whether the answer has changed.
func (r *remoteSigners) check(ctx context.Context) (changed bool) {
	ctx, cancel := context.WithTimeout(ctx, signerTimeout)
	defer cancel()
	for _, s := range r.all {
		if err := s.Ping(ctx); err != nil {
			return r.failed.Swap(&err) == nil
		}
	}
	return r.failed.Swap(nil) != nil
}

// checkSigners logs and exports whether the signer is there.
func (a *App) checkSigners(ctx context.Context) error {
	r := a.money.signers
	if r == nil {
		return nil
	}
	changed := r.check(ctx)
	err := r.failure()
	a.metrics.Dependency("signer", err == nil)
	switch {
	case ctx.Err() != nil: // the node stops
	case err != nil:
		a.log.Error("signer is down", "err", err)
	case changed:
		a.log.Info("signer is up again")
	}
	return nil
}

// openSigners opens the signers of the gas and the refund wallet: at a remote service,
// or with the keys in files.
func (w *wallets) openSigners(ctx context.Context, c *Config) (err error) {
	if c.SignerURL == "" {
		if w.gas, err = file.Open(c.GasKey); err != nil {
			return fmt.Errorf("chain.gas_key: %w", err)
		}
		if w.refund, err = file.Open(c.RefundKey); err != nil {
			return fmt.Errorf("chain.refund_key: %w", err)
		}
		return nil
	}
	w.remote = &remoteSigners{}
	if w.gas, err = w.remote.open(ctx, c, "gas", c.GasWallet); err != nil {
		return err
	}
	w.refund, err = w.remote.open(ctx, c, "refund", c.RefundWallet)
	return err
}

func (r *remoteSigners) open(ctx context.Context, c *Config, name, wallet string) (*remote.Signer, error) {
	parsed, err := deed.ParseWallet(wallet)
	if err != nil {
		return nil, fmt.Errorf("chain.%s_wallet: %w", name, err)
	}
	s, err := remote.Open(ctx, c.SignerURL, parsed)
	if err != nil {
		return nil, fmt.Errorf("chain.signer_url: %w", err)
	}
	r.all = append(r.all, s)
	return s, nil
}
