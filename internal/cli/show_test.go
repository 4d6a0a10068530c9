package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

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
