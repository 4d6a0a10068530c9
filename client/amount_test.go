package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

func TestAmounts(t *testing.T) {
	for in, want := range map[string]string{"0": "0.00", "12": "12.00", "0.1": "0.10", "13.06": "13.06", "1.2345": "1.2345", "0.000001": "0.000001"} {
		got, err := ParseUSDC(in)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "0.0000001", "99999999999999999999", "1,5", " 1"} {
		if got, err := ParseUSDC(in); err == nil {
			t.Errorf("%q: got %s", in, got)
		}
	}
	if got := USDC(math.MinInt64).String(); got != "-9223372036854.775808" {
		t.Errorf("got %s", got)
	}
}

func TestPages(t *testing.T) {
	asked := 0
	page := func(p Page) (out []int, next string, err error) {
		asked++
		from, _ := strconv.Atoi(*p.Cursor)
		to := min(from+p.Limit, 250)
		for i := from; i < to; i++ {
			out = append(out, i)
		}
		if to < 250 {
			next = strconv.Itoa(to)
		}
		return out, next, nil
	}
	next := 0
	for n, err := range pages(page) {
		if err != nil || n != next {
			t.Fatalf("got %d, %v, want %d", n, err, next)
		}
		next++
	}
	if next != 250 || asked != 3 {
		t.Errorf("got %d in %d pages", next, asked)
	}
	bad := errors.New("bad")
	for _, err := range pages(func(Page) ([]int, string, error) { return nil, "", bad }) {
		if err != bad {
			t.Errorf("got %v", err)
		}
	}
}

func TestKeysAreNotShown(t *testing.T) {
	const secret = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	k, err := ParseKey("0x" + secret)
	if err != nil {
		t.Fatal(err)
	}
	if k.Address() != common.HexToAddress("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23") {
		t.Errorf("got %s", k)
	}
	raw, _ := hex.DecodeString(secret) // it is hex
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%v %s", k, k)} {
		if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprint(raw)) {
			t.Error("the key shows its secret")
		}
	}
	if _, err := ParseKey(secret[:62] + "zz"); err == nil || strings.Contains(err.Error(), "zz") {
		t.Errorf("got %v", err)
	}
}
