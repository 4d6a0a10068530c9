// Package deed has the vocabulary that all packages share: names, TLDs, wallets,
// amounts of USDC, secrets, limits, and the errors that a caller may see.
//
// It is the lowest package of the core. The others of the core have the rules
// (internal/dnszone, dnssec, lifecycle, order) and the contracts
// (internal/registrar, settle); none of them does I/O or holds state, so every rule
// can be tested with plain values. Services order the steps, adapters translate,
// and internal/app builds the service of them: see docs/architecture.md;
// layers_test.go enforces it.
package deed
