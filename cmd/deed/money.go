package main

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/payment"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
)

// A network is a chain that we can be paid on.
type network struct {
	v1, v2              string // as x402 calls it
	usdc, name, version string // the token, as wallets sign for it
}

var networks = map[uint64]network{
	84532: {"base-sepolia", "eip155:84532", devchain.USDC, "USDC", "2"},
	8453:  {"base", "eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2"},
}

// money is what purchases need of a chain.
type money struct {
	settler  *chain.Settler
	payments *payment.Service
	reserve  *payment.Reserve
	terms    httpapi.PaymentTerms
	stalled  atomic.Pointer[order.Stalled] // nil while nothing is
}

// low says what an operator should look at: wallets that run low, and payments or
// refunds that make no progress.
func (m *money) low() error {
	if s := m.stalled.Load(); s != nil {
		return errors.Join(m.reserve.Low(), fmt.Errorf("%d payments or refunds make no progress", s.Count))
	}
	return m.reserve.Low()
}

// lookForStalls tells operators what makes no progress.
func (m *money) lookForStalls(ctx context.Context, counters *metrics.Metrics, log *slog.Logger) error {
	found, err := m.payments.Stalled(ctx)
	if err != nil {
		return fmt.Errorf("look for stalled payments: %w", err)
	}
	counters.Stalled(found.Count)
	before := m.stalled.Load()
	if found.Count == 0 {
		if before != nil {
			m.stalled.Store(nil)
			log.Info("payments and refunds make progress again")
		}
		return nil
	}
	m.stalled.Store(&found)
	if before == nil || before.ID != found.ID {
		log.Error("no progress for a minute", "payments", found.Count, "oldest", found.ID, "state", found.State, "since", found.Since.UTC(), "cause", found.Cause)
	}
	return nil
}

// openMoney returns nil when this deployment takes no payments: a real chain
// without a treasury.
func openMoney(ctx context.Context, c *config, db *sqldb.DB, b *chainBackend, now func() time.Time) (*money, error) {
	sandbox := b.sandbox != nil
	if c.PayTo == "" && !sandbox {
		return nil, nil
	}
	net, ok := networks[c.ChainID]
	if !ok {
		return nil, fmt.Errorf("chain.id %d: we know the USDC of Base and Base Sepolia only", c.ChainID)
	}
	keys, err := readWallets(ctx, c, b)
	if err != nil {
		return nil, err
	}
	conf := chain.Config{
		Client: b.Client, Store: sqldb.Settlements{DB: db, ChainID: c.ChainID}, Now: now,
		ChainID: c.ChainID, USDC: common.HexToAddress(net.usdc), Name: net.name, Version: net.version, Multicall: common.HexToAddress(devchain.Multicall),
		PayTo: keys.payTo, GasKey: keys.gas, RefundKey: keys.refund, SafeDepth: c.SafeDepth, Step: failpoint,
	}
	if sandbox {
		conf.Depth = func(deed.USDC) uint64 { return 1 } // its blocks are never taken back
		conf.BlockTime = 20 * time.Millisecond
	}
	if n, err := strconv.ParseUint(c.ChainDepth, 10, 16); err == nil {
		conf.Depth = func(deed.USDC) uint64 { return n }
	}
	settler, err := chain.Open(ctx, conf)
	if err != nil {
		return nil, fmt.Errorf("open the settlement: %w", err)
	}
	asset := deed.Wallet(strings.ToLower(net.usdc))
	terms := c.Payments
	terms.ChainID, terms.Asset, terms.First = c.ChainID, asset, c.ChainFirst
	rows := sqldb.Payments{DB: db, ChainID: c.ChainID, Asset: asset, Now: now}
	reserve := &payment.Reserve{Wallets: settler, MinUSDC: c.RefundFloor}
	return &money{
		settler: settler,
		reserve: reserve,
		payments: &payment.Service{
			Store: rows, Books: rows, Queue: rows, Watch: rows, Settler: settler, Now: now, Reserve: reserve, Terms: terms,
		},
		terms: httpapi.PaymentTerms{NetworkV1: net.v1, NetworkV2: net.v2, Asset: net.usdc, PayTo: keys.payTo.Hex(), TokenName: net.name, TokenVersion: net.version},
	}, nil
}

// watch lets operators see what our wallets have, and hear of it when it is
// little.
func (m *money) watch(counters *metrics.Metrics, log *slog.Logger) {
	m.reserve.OnRefresh = counters.Reserves
	m.reserve.Warn = func(low string, r settle.Reserves) {
		if low == "" {
			log.Info("our wallets have enough again")
			return
		}
		log.Warn("our wallets run low: "+low, "gasWei", r.Gas.String(), "settlements", r.Settlements, "refunds", r.Refunds, "refundUsdc", r.USDC.String())
	}
}

// wallets are our three addresses: the treasury, whose key is not here, one that
// pays for gas, and one that pays refunds.
type wallets struct {
	payTo       common.Address
	gas, refund *ecdsa.PrivateKey
}

// sandboxPurse is the play USDC that refunds are paid from.
const sandboxPurse = 1_000_000_000_000

func readWallets(ctx context.Context, c *config, b *chainBackend) (w wallets, err error) {
	if b.sandbox == nil {
		if w.gas, err = keyfile.ReadWallet(c.GasKey); err != nil {
			return w, fmt.Errorf("chain.gas_key: %w", err)
		}
		if w.refund, err = keyfile.ReadWallet(c.RefundKey); err != nil {
			return w, fmt.Errorf("chain.refund_key: %w", err)
		}
		w.payTo = common.HexToAddress(c.PayTo)
		return w, nil
	}
	// In the sandbox we make our own, and give them play money.
	treasury, _, err := sandboxKey(c, "treasury.key")
	if err != nil {
		return w, err
	}
	var fresh [2]bool
	for i, key := range []**ecdsa.PrivateKey{&w.gas, &w.refund} {
		if *key, fresh[i], err = sandboxKey(c, []string{"gas.key", "refund.key"}[i]); err != nil {
			return w, err
		}
		if fresh[i] {
			wallet := deed.Wallet(strings.ToLower(crypto.PubkeyToAddress((*key).PublicKey).Hex()))
			if _, _, err := b.sandbox.Faucet(ctx, wallet, []deed.USDC{1, sandboxPurse}[i]); err != nil {
				return w, fmt.Errorf("give play money to our own wallets: %w", err)
			}
		}
	}
	w.payTo = crypto.PubkeyToAddress(treasury.PublicKey)
	if c.PayTo != "" {
		w.payTo = common.HexToAddress(c.PayTo)
	}
	return w, nil
}

// sandboxKey reads a key of the sandbox, and makes it when it is not there. Its
// file lies with the chain, and goes with it.
func sandboxKey(c *config, name string) (key *ecdsa.PrivateKey, fresh bool, err error) {
	return keyfile.OpenWallet(filepath.Join(chainFolder(c), name))
}
