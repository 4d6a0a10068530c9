package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/interfacedoc"
)

func TestCleanRemovesControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain ünïcode ✓":    "plain ünïcode ✓",
		"a\tb\nc":            "a b c",
		"\x1b[2Jgone":        "\uFFFD[2Jgone",
		"\u202eevil":         "\uFFFDevil",
		"\u009b31m\x7f\x00x": "\uFFFD31m\uFFFD\uFFFDx",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Only the widest columns of a table break, and no line is wider than the terminal.
func TestTablesFitTheTerminal(t *testing.T) {
	hash := "0x" + strings.Repeat("7f12f1ec", 8)
	l := list{heads: []string{"AT", "TYPE", "NAME", "USDC", "STATUS", "TRANSACTION"}, rows: [][]string{
		{"2026-11-16T05:58:01Z", "registration", "moon-bakery-and-more.com", "13.06", "settled", hash},
		{"2026-11-16T05:58:14Z", "dns_add", "example.com", "0.10", "settled", hash},
	}}
	for _, width := range []int{0, 60, 80, 100, 120, 200} {
		var b strings.Builder
		if err := drawTable(&b, l, width); err != nil {
			t.Fatal(err)
		}
		whole := []string{"13.06", "settled", "TRANSACTION"}
		if width != 60 {
			whole = append(whole, "2026-11-16T05:58:01Z", "registration")
		}
		for _, word := range whole {
			if !strings.Contains(b.String(), word) {
				t.Errorf("width %d: %s is broken in\n%s", width, word, b.String())
			}
		}
		for line := range strings.Lines(b.String()) {
			if got := lipgloss.Width(strings.TrimRight(line, "\n")); width > 0 && got > width {
				t.Errorf("width %d: got a line of %d in\n%s", width, got, b.String())
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(b.String()), ""), hash[len(hash)-8:]) {
			t.Errorf("width %d: the end of the transaction is missing in\n%s", width, b.String())
		}
	}
	for _, width := range []int{1, 20} { // too narrow for any table
		if err := drawTable(io.Discard, l, width); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExitCodes(t *testing.T) {
	offered := &client.Error{Status: 402, Code: client.CodePaymentRequired}
	for want, errs := range map[int][]error{
		0:               {nil},
		exitOther:       {errors.New("x"), errDeclined},
		exitUsage:       {usagef("x"), fmt.Errorf("y: %w", usagef("x")), &client.Error{Status: 400, Code: client.CodeValidation}},
		exitSignIn:      {client.ErrNotSignedIn, noWallet("x"), &client.Error{Status: 403, Code: client.CodeOwnershipDenied}},
		exitPayment:     {offered, errors.Join(offered, errors.New("x")), &client.OverCap{}, client.ErrBadOffer, paymentError{errors.New("x")}, &client.Error{Status: 400, Code: client.CodeValidation, Details: []api.Detail{{Field: "maxPriceUsd"}}}},
		exitNotFound:    {&client.Error{Status: 404, Code: client.CodeNotFound}},
		exitConflict:    {&client.Error{Status: 409, Code: client.CodeDomainUnavailable}},
		exitRateLimited: {&client.Error{Status: 429, Code: client.CodeRateLimited}},
		exitService:     {&client.Error{Status: 502}, &client.Error{Status: 500, Code: client.CodeDNS}, &url.Error{Err: errors.New("refused")}, context.DeadlineExceeded},
		exitRunning:     {errRunning, &client.Unknown{Err: &client.Error{Status: 503, Code: client.CodeUnavailable}}},
		exitInterrupted: {context.Canceled, &client.Unknown{Err: context.Canceled}},
	} {
		for _, err := range errs {
			if got := ExitCode(err); got != want {
				t.Errorf("%v: got %d, want %d", err, got, want)
			}
		}
	}
}

// Every code of the interface document has an exit code.
func TestEveryCodeHasAnExitCode(t *testing.T) {
	codes := interfacedoc.Codes()
	for _, c := range codes {
		if _, ok := exits[c.Code]; !ok {
			t.Errorf("%s has none", c.Code)
		}
	}
	if len(codes) != len(exits) {
		t.Errorf("got %d exit codes, want %d", len(exits), len(codes))
	}
}

func TestParseRecord(t *testing.T) {
	rec, err := parseRecord(" mx @ 10 mail.example.com ")
	if err != nil || rec.Type != "MX" || rec.Host != "@" || rec.Value != "mail.example.com" || rec.Distance == nil || *rec.Distance != 10 {
		t.Errorf("got %+v, %v", rec, err)
	}
	rec, err = parseRecord("TXT @ v=spf1 -all")
	if err != nil || rec.Value != "v=spf1 -all" || rec.Distance != nil {
		t.Errorf("got %+v, %v", rec, err)
	}
	if _, err := parseRecord("A www"); err == nil || !strings.Contains(err.Error(), "TYPE HOST VALUE") {
		t.Errorf("got %v", err)
	}
}
