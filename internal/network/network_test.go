package network

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
)

// The separators are those that the USDC contracts publish as DOMAIN_SEPARATOR.
func TestDomainSeparators(t *testing.T) {
	for id, want := range map[uint64][2]string{8453: {"02fa7265", "834f"}, 84532: {"71f17a3b", "9818"}} {
		n, ok := ByChainID(id)
		if !ok {
			t.Fatalf("chain %d is missing", id)
		}
		separator := n.Domain().Separator()
		got := hex.EncodeToString(separator[:])
		if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) {
			t.Errorf("%s: got separator %s, want %s…%s", n.Title, got, want[0], want[1])
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	for _, n := range append(slices.Clone(public), Embedded()) {
		if n.ChainID == 0 || n.Title == "" || n.X402V1 == "" || n.Token.Name == "" || n.Token.Version == "" || n.BlockTime <= 0 || n.MaxFee == 0 {
			t.Errorf("the row of chain %d is incomplete: %+v", n.ChainID, n)
		}
		for what, address := range map[string]deed.Wallet{"token": n.Token.Address, "multicall": n.Multicall, "fee oracle": n.FeeOracle} {
			if what == "fee oracle" && address == "" {
				continue // not every chain has one
			}
			if w, err := deed.ParseWallet(string(address)); err != nil || w != address {
				t.Errorf("%s: the address of its %s is %q, want 0x and 40 lowercase hex digits", n.Title, what, address)
			}
		}
		for _, address := range n.WalletFactories {
			if w, err := deed.ParseWallet(string(address)); err != nil || w != address {
				t.Errorf("%s: the wallet factory %q is not 0x and 40 lowercase hex digits", n.Title, address)
			}
		}
		checkFinality(t, n)
	}
}

func checkFinality(t *testing.T, n Network) {
	t.Helper()
	ascending := slices.IsSortedFunc(n.Finality, func(a, b Threshold) int { return int(min(1, max(-1, a.UpTo-b.UpTo))) })
	if len(n.Finality) == 0 || !ascending || n.Finality[len(n.Finality)-1].UpTo != AnyAmount {
		t.Errorf("%s: the finality %v is not ascending up to any amount", n.Title, n.Finality)
	}
}

// A chain is found by one ID and one name of each version of x402.
func TestRowsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range public {
		for _, name := range []string{n.CAIP2(), n.X402V1, n.Title} {
			if seen[name] {
				t.Errorf("%s names two chains", name)
			}
			seen[name] = true
		}
		if found, ok := ByCAIP2(n.CAIP2()); !ok || found.ChainID != n.ChainID {
			t.Errorf("%s: got %v, %v", n.CAIP2(), found, ok)
		}
		if found, ok := ByX402V1(n.X402V1); !ok || found.Asset() != n.Asset() {
			t.Errorf("%s: got %v, %v", n.X402V1, found, ok)
		}
		if n.Embedded {
			t.Errorf("%s is public and embedded", n.Title)
		}
	}
	if _, ok := ByChainID(1); ok {
		t.Error("a chain that we do not know is found")
	}
}

func TestDepthGrowsWithTheAmount(t *testing.T) {
	for amount, want := range map[deed.USDC]uint64{1: 1, 100_000: 1, 100_001: 2, 50_000_000: 2, 50_000_001: Safe, AnyAmount: Safe} {
		for _, n := range public {
			if got := n.Finality.Depth(amount); got != want {
				t.Errorf("%s: depth of %s: got %d, want %d", n.Title, amount, got, want)
			}
		}
	}
	if got := (Finality{{UpTo: 5, Depth: 1}}).Depth(6); got != Safe {
		t.Errorf("above all thresholds: got %d, want Safe", got)
	}
}

// The embedded chain replaces a testnet: a signature made in the sandbox must be
// worth nothing elsewhere.
func TestEmbeddedReplacesATestnet(t *testing.T) {
	e := Embedded()
	replaced, ok := ByChainID(EmbeddedChainID)
	if !ok || !replaced.Testnet || !e.Testnet || !e.Embedded || e.Domain() != replaced.Domain() {
		t.Errorf("got %+v in place of %+v", e, replaced)
	}
	if got := e.Finality.Depth(AnyAmount); got != 1 {
		t.Errorf("got depth %d, want 1", got)
	}
}

// What a caller changes in its copy changes no row.
func TestCopiesAreSeparate(t *testing.T) {
	n, _ := ByChainID(8453)
	n.Finality[0].Depth, n.WalletFactories[0] = 99, "0x01"
	if again, _ := ByChainID(8453); again.Finality[0].Depth == 99 || again.WalletFactories[0] == "0x01" {
		t.Error("the table was changed through a copy")
	}
}
