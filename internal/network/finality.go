package network

import (
	"math"

	"deed.example/deed"
)

// Safe is the depth of the block that the chain itself calls safe.
const Safe = 0

// SafeDepth replaces the safe block where an endpoint does not know it.
const SafeDepth = 64

// AnyAmount is an amount above all others.
const AnyAmount = deed.USDC(math.MaxInt64)

// Finality says how many blocks deep a transfer must be before it counts. Its
// thresholds are in ascending order, and the last one covers AnyAmount.
type Finality []Threshold

// A Threshold is the depth for amounts up to a limit. Depth 1 is the newest block,
// and Safe the safe one.
type Threshold struct {
	UpTo  deed.USDC
	Depth uint64
}

// Blocks returns the finality of one depth for every amount.
func Blocks(depth uint64) Finality { return Finality{{UpTo: AnyAmount, Depth: depth}} }

// Depth returns how many blocks deep a transfer of the amount must be. Amounts
// above all thresholds wait for the safe block.
func (f Finality) Depth(amount deed.USDC) uint64 {
	for _, t := range f {
		if amount <= t.UpTo {
			return t.Depth
		}
	}
	return Safe
}
