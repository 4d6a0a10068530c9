package deed

import (
	"fmt"
	"strconv"
	"strings"
)

// USDC is an amount of USDC in its smallest unit, one millionth.
type USDC int64

// Cent is one hundredth of a USDC.
const Cent USDC = 10_000

// ParseUSDC parses a decimal amount such as "12", "0.10" or "1.2345": digits, and
// at most six of them after one point. Signs, exponents and spaces are invalid: an
// amount is never negative.
func ParseUSDC(s string) (USDC, error) {
	whole, frac, point := strings.Cut(s, ".")
	if !Digits(whole) || point && !Digits(frac) || len(frac) > 6 {
		return 0, Errorf(CodeValidation, "%q is not an amount: write it like 12.50", s)
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil {
		return 0, Errorf(CodeValidation, "%q is too large an amount", s)
	}
	return USDC(n), nil
}

// Digits reports whether s consists of decimal digits only.
func Digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String returns the amount with at least two decimals: "0.10", "-1.2345".
func (a USDC) String() string {
	sign, n := "", uint64(a)
	if a < 0 {
		sign, n = "-", -n // unsigned, so that the smallest amount can be negated
	}
	s := fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6)
	for s[len(s)-1] == '0' && s[len(s)-3] != '.' {
		s = s[:len(s)-1]
	}
	return s
}

// UpToCent returns the amount rounded up to a whole cent.
func (a USDC) UpToCent() USDC {
	if over := a % Cent; over > 0 {
		return a + Cent - over
	}
	return a
}
