package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
)

// money has the settler and the services that take payments.
type money struct {
	settler  *chain.Settler
	payments *fulfil.Service
	reserve  *fulfil.Reserve
	reverts  *fulfil.RevertLimit
	terms    httpapi.PaymentTerms
	asset    network.Asset
	payTo    deed.Wallet
	signers  *remoteSigners
	stalled  atomic.Pointer[order.Stalled] // nil while every payment makes progress
}

// warning returns what needs an operator's attention: low balances, many payments that
// failed on the chain, and payments or refunds that make no progress.
func (m *money) warning() error {
	low := errors.Join(m.reserve.Low(), m.reverts.Reached())
	if s := m.stalled.Load(); s != nil {
		return errors.Join(low, fmt.Errorf("%d payments or refunds make no progress", s.Count))
	}
	return low
}

// checkStalled logs and counts payments and refunds that make no progress.
func (m *money) checkStalled(ctx context.Context, counters *metrics.Metrics, log *slog.Logger) error {
	found, err := m.payments.Stalled(ctx)
	if err != nil {
		return fmt.Errorf("find stalled payments: %w", err)
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

// clocks are those of the payments, and of the transactions that settle them.
type clocks struct{ payments, chain func() time.Time }

// openMoney opens the settler and the payment service. It returns nil when this
// deployment takes no payments: on a public chain without a treasury.
func openMoney(ctx context.Context, c *Config, db *sqldb.DB, b *chainBackend, now clocks) (*money, error) {
	if c.PayTo == "" && b.sandbox == nil {
		return nil, nil
	}
	keys, err := openWallets(ctx, c, b)
	if err != nil {
		return nil, err
	}
	m, err := keys.openMoney(ctx, c, db, b, now)
	if err == nil {
		err = checkFirst(ctx, c, b.Client)
	}
	return m, err
}

// maxBehind is how many blocks an endpoint may be behind the one that the operator asked
// for the newest block.
const maxBehind = 1000

// checkFirst returns an error if the first block of the treasury is not made yet:
// transfers before it would be neither counted nor refunded.
func checkFirst(ctx context.Context, c *Config, client *chain.Client) error {
	if c.ChainFirst <= maxBehind {
		return nil
	}
	head, err := client.Newest(ctx)
	if err == nil && c.ChainFirst > head.Number+maxBehind {
		err = fmt.Errorf("it is %d, and the newest block is %d: what is paid until then would be neither counted nor refunded", c.ChainFirst, head.Number)
	}
	if err != nil {
		return fmt.Errorf("chain.from_block: %w", err)
	}
	return nil
}

// openMoney opens the settler and the payment service with these wallets.
func (w wallets) openMoney(ctx context.Context, c *Config, db *sqldb.DB, b *chainBackend, now clocks) (*money, error) {
	net, err := paymentNetwork(c, b.sandbox != nil)
	if err != nil {
		return nil, err
	}
	settler, err := chain.Open(ctx, chain.Config{
		Client: b.Client, Store: sqldb.Settlements{DB: db, ChainID: net.ChainID}, Now: now.chain, Network: net,
		PayTo: common.HexToAddress(string(w.payTo)), GasSigner: w.gas, RefundSigner: w.refund, SafeDepth: c.SafeDepth, Step: c.Hooks.Step, Log: c.logger(),
	})
	if err != nil && b.sandbox == nil {
		return nil, fmt.Errorf("chain.rpc_url: open the settlement: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the settlement: %w", err)
	}
	terms := c.Payments
	terms.ChainID, terms.Asset, terms.First = net.ChainID, net.Token.Address, c.ChainFirst
	rows := sqldb.Payments{DB: db, ChainID: net.ChainID, Asset: net.Token.Address, Now: now.payments}
	reserve := &fulfil.Reserve{Wallets: settler, MinUSDC: c.RefundFloor, Signers: w.remote.failure}
	reverts := &fulfil.RevertLimit{Store: rows, Max: terms.MaxReverts, Now: now.payments}
	return &money{
		settler: settler,
		signers: w.remote,
		reserve: reserve,
		reverts: reverts,
		payments: &fulfil.Service{
			Store: rows, Books: rows, Queue: rows, Watch: rows, Now: now.payments, Reserve: reserve, Reverts: reverts, Terms: terms, Step: c.Hooks.Step,
			Verifier: settler, Settler: settler, Refunder: settler, Watcher: settler,
		},
		terms: httpapi.NewPaymentTerms(net, w.payTo),
		asset: net.Asset(),
		payTo: w.payTo,
	}, nil
}

// paymentNetwork returns the network that callers pay on, with the depth that the
// configuration sets.
func paymentNetwork(c *Config, sandbox bool) (network.Network, error) {
	net, ok := network.ByChainID(c.ChainID)
	if !ok {
		return net, fmt.Errorf("chain.id %d is not a chain whose USDC we know; we know %s", c.ChainID, network.Titles())
	}
	if sandbox {
		net = network.Embedded()
		if c.ChainBlockTime > 0 {
			net.BlockTime = c.ChainBlockTime
		}
	}
	if c.WalletFactories != "" && c.WalletFactories != "auto" {
		all, err := ParseWalletFactories(c.WalletFactories)
		if err != nil {
			return net, fmt.Errorf("chain.wallet_factories: %w", err)
		}
		net.WalletFactories = all
	}
	if n, err := strconv.ParseUint(c.ChainDepth, 10, 16); err == nil {
		net.Finality = network.Blocks(n)
	}
	return net, nil
}

// ParseWalletFactories parses addresses of contracts, separated by commas. "none" is
// an empty list.
func ParseWalletFactories(s string) (all []deed.Wallet, err error) {
	if s == "none" {
		return nil, nil
	}
	for word := range strings.SplitSeq(s, ",") {
		w, err := deed.ParseWallet(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// observe exports the balances of our wallets and the failed payments of the last day as
// metrics, and logs when the former are low, or the latter reach their limit.
func (m *money) observe(counters *metrics.Metrics, log *slog.Logger) {
	m.reverts.OnRefresh = counters.Reverts
	m.reverts.Warn = func(reached bool) {
		if !reached {
			log.Info("contract wallets that have not paid before are accepted again")
			return
		}
		log.Warn("too many payments failed on the chain within a day: contract wallets that have not paid before are refused", "limit", m.reverts.Max)
	}
	m.reserve.OnRefresh = counters.Reserves
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
	payTo       deed.Wallet
	gas, refund signer.Signer
	remote      *remoteSigners // nil if the keys are in files
}

func openWallets(ctx context.Context, c *Config, b *chainBackend) (w wallets, err error) {
	if b.sandbox != nil {
		return openSandboxWallets(ctx, c, b.sandbox)
	}
	if err := w.openSigners(ctx, c); err != nil {
		return w, err
	}
	if w.payTo, err = deed.ParseWallet(c.PayTo); err != nil {
		return w, fmt.Errorf("pay_to: %w", err)
	}
	return w, nil
}

// checkDistinct returns an error unless the wallets are three, which the settler needs.
func checkDistinct(payTo, gas, refund common.Address) error {
	if payTo == gas || payTo == refund || gas == refund {
		return errors.New("pay_to, the gas wallet and the refund wallet must be three addresses: create a key for each")
	}
	return nil
}

// sandboxRefunds is the test money that refunds are paid from.
const sandboxRefunds = 1_000_000 * 100 * deed.Cent

// openSandboxWallets opens the wallets of the sandbox. It creates those that are
// missing and gives them test money. Their files are in the folder of the chain, and
// are deleted with it.
func openSandboxWallets(ctx context.Context, c *Config, sandbox *httpapi.Sandbox) (w wallets, err error) {
	open := func(name string, funds deed.USDC) (*file.Signer, error) {
		s, created, err := file.OpenOrCreate(filepath.Join(c.chainFolder(), name))
		if err != nil || !created || funds == 0 {
			return s, err
		}
		if _, _, err := sandbox.Faucet(ctx, s.Address(), funds); err != nil {
			return nil, fmt.Errorf("give test money to our own wallets: %w", err)
		}
		return s, nil
	}
	treasury, err := open("treasury.key", 0)
	if err != nil {
		return w, err
	}
	if w.gas, err = open("gas.key", 1); err != nil {
		return w, err
	}
	if w.refund, err = open("refund.key", sandboxRefunds); err != nil {
		return w, err
	}
	w.payTo = treasury.Address()
	if c.PayTo != "" {
		w.payTo, err = deed.ParseWallet(c.PayTo)
	}
	return w, err
}
