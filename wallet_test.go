package deed_test

import (
	"strings"
	"testing"

	"deed.example/deed"
)

// The addresses of EIP-55 with their checksums.
var checksums = []string{
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
	"0x52908400098527886E0F7030069857D2E4169EE7",
	"0xde709f2102306220921060314715629080e2fb77",
}

func TestParseWallet(t *testing.T) {
	for _, sum := range checksums {
		want := deed.Wallet(strings.ToLower(sum))
		for _, in := range []string{sum, string(want), "0x" + strings.ToUpper(sum[2:])} {
			if got, err := deed.ParseWallet(in); err != nil || got != want {
				t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
			}
		}
		if got := want.Checksum(); got != sum {
			t.Errorf("checksum: got %s, want %s", got, sum)
		}
	}
}

func TestParseWalletRefuses(t *testing.T) {
	good := checksums[0]
	for _, in := range []string{
		"", "0x", good[2:], good[:41], good + "0", "0X" + good[2:], " " + good, good + "\n", good[:41] + "g",
		"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", // one letter in the wrong case
	} {
		if got, err := deed.ParseWallet(in); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %s, %v, want %s", in, got, err, deed.CodeValidation)
		}
	}
}
