package deed_test

import (
	"math"
	"testing"

	"deed.example/deed"
)

func TestUSDCString(t *testing.T) {
	for in, want := range map[deed.USDC]string{
		0:             "0.00",
		100_000:       "0.10",
		1_500_000:     "1.50",
		12_345_678:    "12.345678",
		1_234_500:     "1.2345",
		-1:            "-0.000001",
		-100_000:      "-0.10",
		-1_500_000:    "-1.50",
		math.MinInt64: "-9223372036854.775808",
	} {
		if got := in.String(); got != want {
			t.Errorf("USDC(%d): got %q, want %q", int64(in), got, want)
		}
	}
}

func TestParseUSDC(t *testing.T) {
	for in, want := range map[string]deed.USDC{
		"0":                    0,
		"12":                   12_000_000,
		"0.1":                  100_000,
		"0.10":                 100_000,
		"1.234567":             1_234_567,
		"007.50":               7_500_000,
		"9223372036854.775807": math.MaxInt64,
	} {
		if got, err := deed.ParseUSDC(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", in, int64(got), err, int64(want))
		}
	}
	for _, in := range []string{"", ".", "1.", ".5", "-1", "+1", "1e6", " 1", "1 ", "1,5", "1.2345678", "1.2.3", "0x1", "٣", "9223372036854.775808"} {
		if got, err := deed.ParseUSDC(in); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %d, %v, want %s", in, int64(got), err, deed.CodeValidation)
		}
	}
}

func TestUpToCent(t *testing.T) {
	for in, want := range map[deed.USDC]deed.USDC{
		0: 0, 1: 10_000, 9_999: 10_000, 10_000: 10_000, 10_001: 20_000, 13_052_000: 13_060_000,
	} {
		if got := in.UpToCent(); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
