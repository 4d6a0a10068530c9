package chain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/signer"
)

// A Store has the transactions that we signed. Implementations must be safe for
// concurrent use by several processes, and must have stored durably what they
// return nil for.
type Store interface {
	// Sign allocates the next nonce of an account, calls sign with it, and stores
	// both, all in one database transaction. When the chain's transaction count is
	// ahead of the stored nonce it continues from there and stores the skipped nonces
	// as foreign. sign gets the purposes whose attempt no process has signed before;
	// it may be called twice, and is not called when there are none. Sign returns what
	// it has stored, and a transaction without a hash when that is nothing.
	Sign(ctx context.Context, in settle.Intent, sign func(nonce uint64, purposes []string) (settle.Transaction, error)) (settle.Transaction, error)

	// StoreReplacement stores a transaction that replaces another one with the same nonce.
	StoreReplacement(ctx context.Context, t settle.Transaction) error

	// Sent returns the transactions of each purpose, and the next nonce of an account.
	// One without a hash says that the purpose was abandoned.
	Sent(ctx context.Context, from deed.Wallet, purposes []string) (settle.Sent, error)

	// Unmined returns the transactions of an account from the nonce on, in ascending
	// order. It may limit their number.
	Unmined(ctx context.Context, from deed.Wallet, nonce uint64) ([]settle.Transaction, error)

	// Abandon reserves the attempt, so that no process signs it or a later one. It
	// fails when a process has signed that attempt.
	Abandon(ctx context.Context, purpose string, attempt int) error

	WalletStore
}

// A WalletStore has every address that was ever ours.
type WalletStore interface {
	AddWallet(ctx context.Context, role string, w deed.Wallet, at time.Time) error
	Wallets(ctx context.Context) (map[string][]deed.Wallet, error) // by role, the oldest first
}

// A Config configures a Settler. Fields that have a default may be left empty.
type Config struct {
	Client *Client
	Store  Store
	Now    func() time.Time // for retry delays; decisions about money use the chain's time
	Log    *slog.Logger     // nil discards everything

	Network network.Network // its block time is also the poll interval
	PayTo   common.Address  // the treasury; its key is not here

	GasSigner    signer.Signer // settles; its account holds gas and no USDC
	RefundSigner signer.Signer // refunds; its account holds gas and USDC

	SafeDepth uint64            // replaces the safe block where the endpoint does not know it; network.SafeDepth
	BumpAfter time.Duration     // when a transaction that is not mined is sent with a higher fee; 30 s
	Step      func(name string) // called at points where a test may crash; nil
}

// A Settler implements every contract of package settle. Make one with Open.
type Settler struct {
	Config
	token, multicall, feeOracle common.Address // of the network
	factories                   []common.Address

	own      atomic.Pointer[ownWallets]
	feeCache feeCache
	safe     safeBlock
	span     logSpan
	scans    scanMemory

	reads             *reader
	payments, refunds *lane
}

func (c *Config) setDefaults() {
	if c.SafeDepth == 0 {
		c.SafeDepth = network.SafeDepth
	}
	if c.BumpAfter == 0 {
		c.BumpAfter = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Open returns a settler after it has verified that the chain and the token are
// those of the network.
func Open(ctx context.Context, cfg Config) (*Settler, error) {
	cfg.setDefaults()
	s := &Settler{
		Config: cfg,
		token:  addressOf(cfg.Network.Token.Address), multicall: addressOf(cfg.Network.Multicall), feeOracle: addressOf(cfg.Network.FeeOracle),
	}
	s.factories = addresses(cfg.Network.WalletFactories)
	if slices.Contains(s.factories, s.token) || slices.Contains(s.factories, s.multicall) {
		return nil, errors.New("the token and the batch contract cannot be factories of wallets")
	}
	s.reads = &reader{s: s, c: s.Client}
	// Checks, which anybody can ask for, never take the slots of payments, and neither those of
	// refunds.
	s.payments = newLane(s, s.Client.separate(maxAtOnce), s.GasSigner, roleGas)
	s.refunds = newLane(s, s.Client.separate(refundSlots), s.RefundSigner, roleRefund)
	s.payments.advance, s.refunds.advance = s.payments.pay, s.refunds.refund
	if s.gasWallet() == s.refundWallet() || s.PayTo == s.gasWallet() || s.PayTo == s.refundWallet() {
		return nil, errors.New("the treasury, the gas wallet and the refund wallet must be three addresses")
	}
	s.Client.SetLogger(s.Log)
	if !s.Network.Embedded { // it makes a block whenever a transaction waits
		s.Client.endpoints.blockTime.Store(int64(s.Network.BlockTime))
	}
	if err := s.Client.verifyAll(ctx); err != nil {
		return nil, err
	}
	if err := s.Client.Ping(ctx, s.Network.ChainID); err != nil {
		return nil, err
	}
	if err := s.checkToken(ctx); err != nil {
		return nil, fmt.Errorf("check the token %s: %w", s.token, err)
	}
	if s.Network.Finality.Depth(network.AnyAmount) == network.Safe {
		if _, err := s.reads.safeNumber(ctx, nil); err != nil {
			return nil, fmt.Errorf("find the safe block: %w", err)
		}
	}
	return s, s.addWallets(ctx)
}

// checkToken compares the token's own name, version, decimals and domain with the
// network. A signature for another domain would be worthless.
func (s *Settler) checkToken(ctx context.Context) error {
	methods := []string{"name", "version", "decimals", "DOMAIN_SEPARATOR"}
	want := []any{s.Network.Token.Name, s.Network.Token.Version, uint8(6), s.Network.Domain().Separator()}
	var members []batchCall
	for _, method := range methods {
		members = append(members, batchCall{s.token, true, pack(tokenABI, method)})
	}
	results, err := s.Client.callBatch(ctx, callMsg{to: s.multicall, gas: settleGas * 4}, members, "latest")
	if err != nil {
		return err
	}
	for i, method := range methods {
		got, err := tokenABI.Unpack(method, results[i].ReturnData)
		if err != nil || !results[i].Success {
			return fmt.Errorf("read its %s: %w", method, errors.Join(err, errors.New("it has no such method")))
		}
		if got[0] != want[i] {
			return fmt.Errorf("its %s is %v, want %v", method, got[0], want[i])
		}
	}
	return nil
}

func walletAt(a common.Address) deed.Wallet  { return deed.Wallet(strings.ToLower(a.Hex())) }
func addressOf(w deed.Wallet) common.Address { return common.HexToAddress(string(w)) }
func hashOf(s string) common.Hash            { return common.HexToHash(s) }
func topicOf(a common.Address) common.Hash   { return common.BytesToHash(a[:]) }

func (s *Settler) gasWallet() common.Address    { return addressOf(s.GasSigner.Address()) }
func (s *Settler) refundWallet() common.Address { return addressOf(s.RefundSigner.Address()) }

func (s *Settler) step(name string) {
	if s.Step != nil {
		s.Step(name)
	}
}
