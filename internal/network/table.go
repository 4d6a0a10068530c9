package network

import (
	"time"

	"deed.example/deed"
)

// EmbeddedChainID is the ID of the embedded chain, which replaces Base Sepolia, so
// that stock payment clients pay there unchanged. It must never be that of Base:
// signatures made in the sandbox would move real money there. It is an untyped
// constant because callers need it as several types of integer.
const EmbeddedChainID = 84532

// Contracts that have one address on many chains.
const (
	multicall3 deed.Wallet = "0xca11bde05977b3631167028862be2a173976ca11" // https://www.multicall3.com
	opOracle   deed.Wallet = "0x420000000000000000000000000000000000000f" // GasPriceOracle, a predeploy of the OP stack
)

// coinbaseFactories deploy Coinbase Smart Wallet 1.1 and 1, at one address on many
// chains: https://github.com/coinbase/smart-wallet.
var coinbaseFactories = []deed.Wallet{"0xba5ed110efdba3d005bfc882d75358acbbb85842", "0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a"}

// EmbeddedFactory deploys wallets on the embedded chain.
const EmbeddedFactory deed.Wallet = "0xdeedfac70000000000000000000000000000fac7"

const gwei = 1_000_000_000

// byAmount requires more of a chain where more is at stake: one block for a change
// of DNS records, two for a name of up to 50 USDC, and the safe block above it.
var byAmount = Finality{{UpTo: 10 * deed.Cent, Depth: 1}, {UpTo: 5000 * deed.Cent, Depth: 2}, {UpTo: AnyAmount, Depth: Safe}}

// public are the public chains.
var public = []Network{
	{
		ChainID: 8453, Title: "Base", X402V1: "base",
		Token:     Token{Address: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", Name: "USD Coin", Version: "2"},
		Multicall: multicall3, FeeOracle: opOracle,
		BlockTime: 2 * time.Second, Finality: byAmount, MaxFee: 20 * gwei,
		WalletFactories: coinbaseFactories,
	},
	{
		ChainID: EmbeddedChainID, Title: "Base Sepolia", X402V1: "base-sepolia",
		Token:     Token{Address: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", Name: "USDC", Version: "2"},
		Multicall: multicall3, FeeOracle: opOracle,
		BlockTime: 2 * time.Second, Finality: byAmount, MaxFee: 20 * gwei, Testnet: true,
		WalletFactories: coinbaseFactories,
	},
}

// Embedded returns the chain in our own process. It has the names and contracts of
// the chain that it replaces. It makes a block as soon as a transaction is
// waiting, and takes no block back.
func Embedded() Network {
	n, _ := ByChainID(EmbeddedChainID) // a test says that it is there
	n.BlockTime, n.Finality, n.Embedded = 20*time.Millisecond, Blocks(1), true
	n.WalletFactories = []deed.Wallet{EmbeddedFactory}
	return n
}
