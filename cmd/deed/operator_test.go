package main

import (
	"io"
	"strings"
	"testing"
)

// A refund is of one order or of the dust of a wallet, and always has a reason.
func TestRefundArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "an order ID or --dust WALLET is required",
		"pay_1 --dust 0x1 --reason why": "an order ID and --dust cannot be used together",
		"pay_1":                         "--reason is required",
		"--dust 0x1":                    "--reason is required",
	} {
		cmd := refundCommand()
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.Execute(); err == nil || err.Error() != want {
			t.Errorf("refund %s: got %v, want %s", args, err, want)
		}
	}
}
