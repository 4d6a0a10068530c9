package chain

import (
	"errors"
	"strconv"
	"strings"
)

// A quantity is a number as JSON-RPC writes it: "0x14a34".
type quantity uint64

// UnmarshalText reads a quantity.
func (q *quantity) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return errors.New("not a quantity")
	}
	*q = quantity(n)
	return nil
}
