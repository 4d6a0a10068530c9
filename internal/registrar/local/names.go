package local

import (
	"slices"
	"strings"

	"deed.example/deed"
)

// specialUse are the TLDs that are never delegated (RFC 6761, 6762, 7686, 9476)
// or never sold.
var specialUse = []string{"example", "test", "invalid", "localhost", "local", "onion", "alt", "internal", "arpa"}

// registryLabels are the labels that registries reserve for their own services.
var registryLabels = []deed.Label{"nic", "whois", "www", "rdds"}

// oldTLDs reserve single letters, and the names for documentation (RFC 6761, 6.5).
var oldTLDs = []deed.TLD{"com", "net", "org"}

// isReserved reports whether the name cannot be bought.
func isReserved(name deed.Name) bool {
	top := string(name)[strings.LastIndexByte(string(name), '.')+1:]
	label := name.Label()
	switch {
	case slices.Contains(specialUse, top), slices.Contains(registryLabels, label):
		return true
	case !slices.Contains(oldTLDs, name.TLD()):
		return false
	}
	return label == "example" || len(label) == 1 && 'a' <= label[0] && label[0] <= 'z'
}

// A price is the wholesale price of a premium name.
type price struct{ first, further deed.USDC } // the first year, and each further one

// premiumPrices are the prices of a label of two characters: one below the price
// that most callers accept, one above it.
var premiumPrices = map[deed.TLD]price{
	"io":  {first: 250_000_000, further: 80_000_000},
	"com": {first: 2_500_000_000, further: 2_500_000_000},
}

// premiumPrice returns the wholesale price of a premium name.
func premiumPrice(name deed.Name) (p price, premium bool) {
	if len(name.Label()) != 2 {
		return price{}, false
	}
	p, premium = premiumPrices[name.TLD()]
	return p, premium
}
