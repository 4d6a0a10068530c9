package client

import (
	"fmt"
	"strconv"
	"strings"
)

// USDC is an amount of USDC in its smallest unit, one millionth.
type USDC int64

// Dollar is one USDC.
const Dollar USDC = 1_000_000

// ParseUSDC reads an amount such as "12", "0.10" or "1.2345".
func ParseUSDC(s string) (USDC, error) {
	whole, frac, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(frac) || len(frac) > 6 {
		return 0, fmt.Errorf("%q is not an amount: write it like 12.50", s)
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is more USDC than there can be", s)
	}
	return USDC(n), nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// String returns the amount with at least two decimals, such as "0.10".
func (a USDC) String() string {
	sign, n := "", uint64(a)
	if a < 0 {
		sign, n = "-", -n // unsigned, so that the smallest amount has a positive too
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", n%1e6), "0")
	return fmt.Sprintf("%s%d.%s", sign, n/1e6, frac+"00"[min(len(frac), 2):])
}
