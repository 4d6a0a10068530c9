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

// A network is a chain with its USDC contract.
type network struct {
	v1, v2              string // names in x402
	usdc, name, version string // the token and its EIP-712 domain
}

var networks = map[uint64]network{
	84532: {"base-sepolia", "eip155:84532", devchain.USDC, "USDC", "2"},
	8453:  {"base", "eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2"},
}

// money has the chain components of payments.
type money struct {
	settler  *chain.Settler
	payments *payment.Service
	reserve  *payment.Reserve
	terms    httpapi.PaymentTerms
	stalled  atomic.Pointer[order.Stalled] // nil if nothing is stalled
}

// low returns an error that the operator should act on: wallets with low funds, and
// payments or refunds that make no progress.
func (m *money) low() error {
	if s := m.stalled.Load(); s != nil {
		return errors.Join(m.reserve.Low(), fmt.Errorf("%d payments or refunds make no progress", s.Count))
	}
	return m.reserve.Low()
}

// checkStalls reports payments and refunds that make no progress.
func (m *money) checkStalls(ctx context.Context, counters *metrics.Metrics, log *slog.Logger) error {
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

// openMoney returns nil if this deployment accepts no payments: a real chain
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
		conf.Depth = func(deed.USDC) uint64 { return 1 } // the embedded chain has no reorganizations
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
	reserve := &payment.Reserve{Purse: settler, Floor: c.RefundFloor}
	return &money{
		settler: settler,
		reserve: reserve,
		payments: &payment.Service{
			Store: rows, Books: rows, Queue: rows, Watch: rows, Settler: settler, Now: now, Reserve: reserve, Terms: terms,
		},
		terms: httpapi.PaymentTerms{NetworkV1: net.v1, NetworkV2: net.v2, Asset: net.usdc, PayTo: keys.payTo.Hex(), TokenName: net.name, TokenVersion: net.version},
	}, nil
}

// watch exports the balances of the wallets as metrics, and warns if they are low.
func (m *money) watch(counters *metrics.Metrics, log *slog.Logger) {
	m.reserve.Seen = counters.Reserves
	m.reserve.Warn = func(low string, r settle.Reserves) {
		if low == "" {
			log.Info("our wallets have enough again")
			return
		}
		log.Warn("our wallets run low: "+low, "gasWei", r.Gas.String(), "settlements", r.Settlements, "refunds", r.Refunds, "refundUsdc", r.USDC.String())
	}
}

// wallets are the three addresses of the service: the treasury, whose key is not
// here, the gas wallet and the refund wallet.
type wallets struct {
	payTo       common.Address
	gas, refund *ecdsa.PrivateKey
}

// sandboxRefundBalance is the test USDC of the sandbox's refund wallet.
const sandboxRefundBalance = 1_000_000_000_000

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
	// The sandbox creates its own wallets, with test money.
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
			if _, _, err := b.sandbox.Faucet(ctx, wallet, []deed.USDC{1, sandboxRefundBalance}[i]); err != nil {
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

// sandboxKey reads a key of the sandbox, or creates it. Its file is in the folder
// of the embedded chain.
func sandboxKey(c *config, name string) (key *ecdsa.PrivateKey, fresh bool, err error) {
	return keyfile.OpenWallet(filepath.Join(chainFolder(c), name))
}
