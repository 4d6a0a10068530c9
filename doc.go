// Package deed has the vocabulary that everybody here shares: names, TLDs, wallets,
// amounts of USDC, secrets, limits, and the errors that a caller may see.
//
// It is the lowest package of the core. The others of the core have the rules
// (internal/dnszone, dnssec, lifecycle, order) and the contracts (internal/registrar,
// settle); none of them does I/O or keeps state, so every rule can be tested with
// plain values. Services order the steps, adapters translate, and cmd/deed puts all
// of them together: docs/architecture.md draws it, layers_test.go checks it.
package deed
