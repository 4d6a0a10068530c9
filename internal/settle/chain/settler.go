package chain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// A Store keeps what we signed. Implementations must be safe for concurrent use
// by several processes, and must have on the disk what they return nil for.
type Store interface {
	// Sign gives out the next nonce of an account, has sign sign for it, and
	// stores both, all in one transaction. When the chain's count is ahead of the
	// stored nonce it goes on from there and notes the skipped ones as foreign.
	// Sign is told the purposes whose attempt nobody made before; when there are
	// none, nothing happens.
	Sign(ctx context.Context, in settle.Intent, sign func(nonce uint64, purposes []string) (settle.Transaction, error)) error

	// Outbid stores a transaction that takes the place of another one.
	Outbid(ctx context.Context, t settle.Transaction) error

	// Sent returns the transactions of each purpose, without their bytes, those
	// of the last attempt last. One without a hash says that the purpose was
	// abandoned.
	Sent(ctx context.Context, purposes []string) (map[string][]settle.Transaction, error)

	// Unmined returns the transactions of an account from the nonce on, the
	// lowest first. It may leave out the highest.
	Unmined(ctx context.Context, from deed.Wallet, nonce uint64) ([]settle.Transaction, error)

	// Abandon makes the attempt one that nobody signs, so that the purpose has
	// none after it. It fails when somebody has signed that attempt.
	Abandon(ctx context.Context, purpose string, attempt int) error

	WalletStore
}

// A WalletStore keeps every address that was ever ours.
type WalletStore interface {
	AddWallet(ctx context.Context, role string, w deed.Wallet, at time.Time) error
	Wallets(ctx context.Context) (map[string][]deed.Wallet, error) // by role, the first ones first
}

// A Config says which money moves from whom to whom. Fields that have a default
// may be left empty.
type Config struct {
	Client *Client
	Store  Store
	Now    func() time.Time // paces repeats; it never decides about money
	Log    *slog.Logger     // says what an operator should know; nil for nobody

	ChainID       uint64
	USDC          common.Address
	Name, Version string // of the token, as wallets sign them (EIP-712)
	Multicall     common.Address
	PayTo         common.Address    // the treasury; its key is not here
	GasKey        *ecdsa.PrivateKey // settles; holds gas and no USDC
	RefundKey     *ecdsa.PrivateKey // refunds; holds gas and USDC
	DataFees      common.Address    // the contract that OP-stack chains tell with what publishing costs; their own

	Depth     func(deed.USDC) uint64 // how many blocks deep a transfer must lie; Safe for the safe tag; DefaultDepth
	SafeDepth uint64                 // stands in for the safe tag where the endpoint has none; 64
	BlockTime time.Duration          // between two blocks, and so between two looks at the chain; 2 s
	MaxFee    uint64                 // the most to pay for gas, in wei, whatever the endpoint suggests; 20 gwei
	BumpAfter time.Duration          // when a transaction that is not mined is sent with a higher fee; 30 s
	Step      func(name string)      // called at points where a test may crash; nil
}

// Safe is the depth of what the chain itself calls safe.
const Safe = 0

// DefaultDepth asks more of the chain where more is at stake: one sealed block
// for a change of DNS records, two for a name of up to 50 USDC, and above it
// what the chain calls safe.
func DefaultDepth(amount deed.USDC) uint64 {
	switch {
	case amount <= 10*deed.Cent:
		return 1
	case amount <= 5000*deed.Cent:
		return 2
	}
	return Safe
}

// A Settler implements settle.Settler. Make one with Open.
type Settler struct {
	Config
	domain common.Hash // the token's EIP-712 separator

	own      atomic.Pointer[ownWallets]
	feeCache feeCache
	safe     safeBlock
	span     logSpan
	scans    scanMemory

	reads             *reader
	payments, refunds *lane
}

func (c *Config) setDefaults() {
	if c.Depth == nil {
		c.Depth = DefaultDepth
	}
	if c.SafeDepth == 0 {
		c.SafeDepth = 64
	}
	if c.BlockTime == 0 {
		c.BlockTime = 2 * time.Second
	}
	if c.MaxFee == 0 {
		c.MaxFee = 20_000_000_000
	}
	if c.BumpAfter == 0 {
		c.BumpAfter = 30 * time.Second
	}
	if c.DataFees == (common.Address{}) {
		c.DataFees = dataFees
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Open returns a settler after it has made sure that the chain and the token
// are the ones it was told of.
func Open(ctx context.Context, cfg Config) (*Settler, error) {
	cfg.setDefaults()
	s := &Settler{Config: cfg}
	s.domain = s.separator()
	s.reads = &reader{s: s, c: s.Client}
	s.payments = newLane(s, s.Client, s.GasKey, roleGas)
	// Calls for payments and checks never take the refunds' slots.
	s.refunds = newLane(s, s.Client.separate(refundSlots), s.RefundKey, roleRefund)
	s.payments.advance, s.refunds.advance = s.payments.pay, s.refunds.refund
	if s.gasWallet() == s.refundWallet() || s.PayTo == s.gasWallet() || s.PayTo == s.refundWallet() {
		return nil, errors.New("the treasury, the gas wallet and the refund wallet must be three addresses")
	}
	s.Client.SetLogger(s.Log)
	if err := s.Client.verifyAll(ctx); err != nil {
		return nil, err
	}
	if err := s.Client.Ping(ctx, s.ChainID); err != nil {
		return nil, err
	}
	if err := s.checkToken(ctx); err != nil {
		return nil, fmt.Errorf("check the token %s: %w", s.USDC, err)
	}
	if s.Depth(deepest) == Safe {
		if _, err := s.reads.safeNumber(ctx, nil); err != nil {
			return nil, fmt.Errorf("look for the safe block: %w", err)
		}
	}
	return s, s.addWallets(ctx)
}

// checkToken compares what the token says of itself with what we were told. A
// signature for another name, version or address would be worth nothing.
func (s *Settler) checkToken(ctx context.Context) error {
	methods := []string{"name", "version", "decimals", "DOMAIN_SEPARATOR"}
	want := []any{s.Name, s.Version, uint8(6), [32]byte(s.domain)}
	var calls [][]byte
	for _, method := range methods {
		calls = append(calls, pack(tokenABI, method))
	}
	answers, err := s.Client.askBatch(ctx, question{to: s.Multicall, data: batch(s.USDC, calls...), gas: settleGas * 4}, "latest")
	if err != nil {
		return err
	}
	for i, method := range methods {
		got, err := tokenABI.Unpack(method, answers[i].ReturnData)
		if err != nil || !answers[i].Success {
			return fmt.Errorf("read its %s: %w", method, errors.Join(err, errors.New("it has none")))
		}
		if got[0] != want[i] {
			return fmt.Errorf("its %s is %v, want %v", method, got[0], want[i])
		}
	}
	return nil
}

func walletAt(a common.Address) deed.Wallet           { return deed.Wallet(strings.ToLower(a.Hex())) }
func addressOf(w deed.Wallet) common.Address          { return common.HexToAddress(string(w)) }
func hashOf(s string) common.Hash                     { return common.HexToHash(s) }
func topicOf(a common.Address) common.Hash            { return common.BytesToHash(a[:]) }
func keyAddress(key *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(key.PublicKey) }

func (s *Settler) gasWallet() common.Address    { return keyAddress(s.GasKey) }
func (s *Settler) refundWallet() common.Address { return keyAddress(s.RefundKey) }

func (s *Settler) step(name string) {
	if s.Step != nil {
		s.Step(name)
	}
}

// deepest is an amount above all others.
const deepest = deed.USDC(math.MaxInt64)
