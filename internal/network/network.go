// Package network is the one table of the chains that we can be paid on: their
// IDs and names, the USDC contract with the EIP-712 domain that wallets sign
// for, how fast blocks come, and how deep a transfer must be before it counts.
//
// No other package states a fact about a chain. A new chain or token is one row
// in table.go; the tests check that a row is complete. The package client is the
// exception: it runs in the programs of others, who must not have to trust our
// service about which contract is USDC, and it imports nothing internal.
package network

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
)

// A Network is a chain and the token that we take on it.
type Network struct {
	ChainID   uint64
	Title     string // for people, such as "Base Sepolia"
	X402V1    string // its name in version 1 of x402; version 2 uses CAIP2
	Token     Token
	Multicall deed.Wallet   // the Multicall3 contract
	FeeOracle deed.Wallet   // the contract of OP-stack chains that prices the publishing of data; "" on other chains
	BlockTime time.Duration // between two blocks

	// WalletFactories deploy wallets that pay before they are on the chain (ERC-6492).
	// Each must run no code of its caller's choice beyond its own wallets.
	WalletFactories []deed.Wallet

	Finality Finality
	MaxFee   uint64 // the highest price of gas that we pay, in wei
	Testnet  bool   // its money is worth nothing
	Embedded bool   // it is the chain in our own process
}

// A Token is a USDC contract. It has six decimals, as deed.USDC does.
type Token struct {
	Address       deed.Wallet
	Name, Version string // as its EIP-712 domain has them
}

// An Asset is a token on a chain: what an authorization to pay is signed for.
type Asset struct {
	ChainID uint64
	Token   deed.Wallet
}

// ByChainID returns the public chain with the ID. The embedded chain has the ID
// of a public one: see Embedded.
func ByChainID(id uint64) (Network, bool) {
	return find(func(n Network) bool { return n.ChainID == id })
}

// ByCAIP2 returns the public chain with the CAIP-2 ID, such as "eip155:8453".
func ByCAIP2(id string) (Network, bool) {
	return find(func(n Network) bool { return n.CAIP2() == id })
}

// ByX402V1 returns the public chain with the name in version 1 of x402.
func ByX402V1(name string) (Network, bool) {
	return find(func(n Network) bool { return n.X402V1 == name })
}

func find(match func(Network) bool) (Network, bool) {
	i := slices.IndexFunc(public, match)
	if i < 0 {
		return Network{}, false
	}
	return public[i].clone(), true
}

// Titles names the public chains in a sentence: "Base, Base Sepolia".
func Titles() string {
	var all []string
	for _, n := range public {
		all = append(all, n.Title)
	}
	return strings.Join(all, ", ")
}

// clone returns a copy that the caller may change.
func (n Network) clone() Network {
	n.Finality, n.WalletFactories = slices.Clone(n.Finality), slices.Clone(n.WalletFactories)
	return n
}

// CAIP2 returns the ID of the chain as CAIP-2 writes it.
func (n Network) CAIP2() string { return fmt.Sprintf("eip155:%d", n.ChainID) }

// Asset returns the token that we take on the network.
func (n Network) Asset() Asset { return Asset{ChainID: n.ChainID, Token: n.Token.Address} }

// Domain returns the EIP-712 domain of the token.
func (n Network) Domain() Domain {
	return Domain{Name: n.Token.Name, Version: n.Token.Version, ChainID: n.ChainID, Contract: n.Token.Address}
}
