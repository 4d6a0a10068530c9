package chain

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
)

// A Store keeps what we signed. Implementations must be safe for concurrent use
// by several processes, and must have on the disk what they return nil for.
type Store interface {
	// Sign gives out the next nonce of an account, has sign sign for it, and
	// writes both down, all in one transaction. Sign is told the purposes whose
	// attempt nobody made before; when there are none, nothing happens.
	Sign(ctx context.Context, in deed.Intent, sign func(nonce uint64, purposes []string) (deed.Transaction, error)) error

	// Outbid writes down a transaction that takes the place of another one.
	Outbid(ctx context.Context, t deed.Transaction) error

	// Sent returns the transactions of each purpose, without their bytes, those
	// of the last attempt last.
	Sent(ctx context.Context, purposes []string) (map[string][]deed.Transaction, error)

	// Unmined returns the transactions of an account from the nonce on, the
	// lowest first. It may leave out the highest.
	Unmined(ctx context.Context, from deed.Wallet, nonce uint64) ([]deed.Transaction, error)
}

// A Config says which money moves from whom to whom. Fields that have a default
// may be left empty.
type Config struct {
	Client *Client
	Store  Store
	Now    func() time.Time // paces repeats; it never decides about money

	ChainID       uint64
	USDC          common.Address
	Name, Version string // of the token, as wallets sign them (EIP-712)
	Multicall     common.Address
	PayTo         common.Address    // the treasury; its key is not here
	HotKey        *ecdsa.PrivateKey // settles; holds gas and no USDC
	RefundKey     *ecdsa.PrivateKey // refunds; holds gas and USDC

	Depth     func(deed.USDC) uint64 // how many blocks deep a transfer must lie; Safe for the safe tag; DefaultDepth
	Poll      time.Duration          // between two looks at the chain; 500 ms
	MaxFee    uint64                 // the most to pay for gas, in wei, whatever the endpoint suggests; 20 gwei
	BumpAfter time.Duration          // when a transaction that is not mined is sent with a higher fee; 30 s
	Step      func(name string)      // called at points where a test may crash; nil
}

// Safe is the depth of what the chain itself calls safe.
const Safe = 0

// DefaultDepth asks more of the chain where more is at stake: one sealed block
// for a change of DNS records, five for a name of up to 50 USDC, and above it
// what the chain calls safe.
func DefaultDepth(amount deed.USDC) uint64 {
	switch {
	case amount <= 10*deed.Cent:
		return 1
	case amount <= 5000*deed.Cent:
		return 5
	}
	return Safe
}

// A Settler implements deed.Settler. Make one with Open.
type Settler struct {
	Config
	domain common.Hash // the token's EIP-712 separator

	lead  chan struct{} // holds a token while one caller works for all that wait
	fresh chan struct{} // holds a token when somebody has come to wait

	mu      sync.Mutex // guards waiting
	waiting map[string]*wait
}

// Open returns a settler after it has made sure that the chain and the token
// are the ones it was told of.
func Open(ctx context.Context, cfg Config) (*Settler, error) {
	if cfg.Depth == nil {
		cfg.Depth = DefaultDepth
	}
	if cfg.Poll == 0 {
		cfg.Poll = 500 * time.Millisecond
	}
	if cfg.MaxFee == 0 {
		cfg.MaxFee = 20_000_000_000
	}
	if cfg.BumpAfter == 0 {
		cfg.BumpAfter = 30 * time.Second
	}
	s := &Settler{Config: cfg, lead: make(chan struct{}, 1), fresh: make(chan struct{}, 1), waiting: map[string]*wait{}}
	s.domain = s.separator()
	if s.hot() == s.purse() || s.PayTo == s.hot() || s.PayTo == s.purse() {
		return nil, errors.New("the treasury, the hot wallet and the refund wallet must be three addresses")
	}
	if err := s.Client.Ping(ctx, s.ChainID); err != nil {
		return nil, err
	}
	if err := s.checkToken(ctx); err != nil {
		return nil, fmt.Errorf("check the token %s: %w", s.USDC, err)
	}
	return s, nil
}

// checkToken compares what the token says of itself with what we were told. A
// signature for another name, version or address would be worth nothing.
func (s *Settler) checkToken(ctx context.Context) error {
	for method, want := range map[string]any{
		"name": s.Name, "version": s.Version, "decimals": uint8(6), "DOMAIN_SEPARATOR": [32]byte(s.domain),
	} {
		raw, err := s.Client.ask(ctx, question{to: s.USDC, data: pack(tokenABI, method), gas: settleGas}, "latest")
		if err != nil {
			return err
		}
		got, err := tokenABI.Unpack(method, raw)
		if err != nil {
			return fmt.Errorf("read its %s: %w", method, err)
		}
		if got[0] != want {
			return fmt.Errorf("its %s is %v, want %v", method, got[0], want)
		}
	}
	return nil
}

func walletAt(a common.Address) deed.Wallet { return deed.Wallet(strings.ToLower(a.Hex())) }

func (s *Settler) hot() common.Address   { return crypto.PubkeyToAddress(s.HotKey.PublicKey) }
func (s *Settler) purse() common.Address { return crypto.PubkeyToAddress(s.RefundKey.PublicKey) }

func (s *Settler) step(name string) {
	if s.Step != nil {
		s.Step(name)
	}
}

// final returns the last block that is as deep as the amount asks. Its own
// clock and state decide about money, and nothing above it does.
func (s *Settler) final(ctx context.Context, amount deed.USDC) (*block, error) {
	depth := s.Depth(amount)
	if depth == Safe {
		return s.Client.block(ctx, "safe")
	}
	head, err := s.Client.block(ctx, "latest")
	if err != nil || depth == 1 {
		return head, err
	}
	if uint64(head.Number) < depth-1 {
		return s.Client.block(ctx, "earliest")
	}
	return s.Client.block(ctx, number(uint64(head.Number)-depth+1))
}

// deepest is an amount above all others.
const deepest = deed.USDC(math.MaxInt64)
