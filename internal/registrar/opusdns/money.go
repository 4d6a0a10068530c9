package opusdns

import (
	"fmt"
	"math"
	"strings"

	"deed.example/deed"
)

// parseAmount parses an amount of the vendor, such as "12.50", "-3" or "7.1234567".
// What is smaller than a millionth is rounded down, towards less money.
func parseAmount(s string) (deed.USDC, error) {
	digits, negative := strings.CutPrefix(s, "-")
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	whole, frac, _ := strings.Cut(digits, ".")
	if whole == "" {
		whole = "0"
	}
	if !deed.Digits(whole) || strings.Trim(frac, "0123456789") != "" || digits == "" || digits == "." || len(whole) > 12 {
		return 0, fmt.Errorf("%s is not an amount", deed.Quoted(s))
	}
	rest := ""
	if len(frac) > 6 {
		frac, rest = frac[:6], frac[6:]
	}
	amount, err := deed.ParseUSDC(whole + "." + frac + strings.Repeat("0", 6-len(frac)))
	if err != nil {
		return 0, fmt.Errorf("%s is not an amount", deed.Quoted(s))
	}
	if !negative {
		return amount, nil
	}
	if strings.Trim(rest, "0") != "" {
		amount++
	}
	return -amount, nil
}

// parsePrice parses a price in our currency. A price is never zero or negative: such
// a reply is wrong, and selling at it would lose money. It is rounded up.
func parsePrice(price, in string) (deed.USDC, error) {
	if in != currency {
		return 0, fmt.Errorf("a price is in %s, not in %s", deed.Quoted(in), currency)
	}
	amount, err := parseAmount(price)
	if err != nil {
		return 0, err
	}
	if _, frac, _ := strings.Cut(price, "."); len(frac) > 6 && strings.Trim(frac[6:], "0") != "" {
		amount++
	}
	if amount <= 0 {
		return 0, fmt.Errorf("a price is %s", amount)
	}
	return amount, nil
}

// formatPrice returns the price as it is confirmed: with two decimals.
func formatPrice(price deed.USDC) (string, error) {
	if price <= 0 || price%deed.Cent != 0 || price > 99_999_999*100*deed.Cent {
		return "", fmt.Errorf("the price %s cannot be confirmed", price)
	}
	return fmt.Sprintf("%d.%02d", price/(100*deed.Cent), price/deed.Cent%100), nil
}

// times returns the price n times, at most the largest amount.
func times(price deed.USDC, n int) deed.USDC {
	if n > 0 && price > math.MaxInt64/4/deed.USDC(n) {
		return math.MaxInt64 / 4
	}
	return price * deed.USDC(n)
}
