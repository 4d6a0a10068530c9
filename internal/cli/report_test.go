package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// Only a command that calls a Deed server says what to do when none responds. Others name
// the setting of what does not.
func TestHintAboutTheServer(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	calls, serves := &cobra.Command{}, &cobra.Command{}
	calls.Flags().String("server", "", "")
	for _, tt := range []struct {
		cmd  *cobra.Command
		err  error
		want string
	}{
		{calls, &url.Error{URL: "http://127.0.0.1:1/health", Err: refused}, "deed: cannot reach http://127.0.0.1:1: dial: connection refused\n  hint: no service responds there; set --server or DEED_SERVER, or run `deed serve`\n"},
		{calls, &url.Error{URL: "https://127.0.0.1:1/health", Err: errors.New("not TLS")}, "deed: cannot reach https://127.0.0.1:1: not TLS\n  hint: check the address in --server or DEED_SERVER; `deed doctor` says what is wrong\n"},
		{calls, &url.Error{URL: "http://127.0.0.1:1/health", Err: context.Canceled}, "deed: interrupted\n"},
		{calls, &client.Error{Status: 404}, "deed: the service answered 404: Not Found\n  hint: this answer is not from a Deed service, but from a proxy or another server: check --server or DEED_SERVER, or try again later\n"},
		{serves, fmt.Errorf("database.url: %w", refused), "deed: database.url: dial: connection refused\n"},
		{serves, fmt.Errorf("chain.rpc_url: %w", &url.Error{Op: "Post", URL: "http://127.0.0.1:1", Err: refused}), "deed: chain.rpc_url: Post \"http://127.0.0.1:1\": dial: connection refused\n"},
	} {
		var b strings.Builder
		if Report(&b, tt.cmd, tt.err); b.String() != tt.want {
			t.Errorf("got %q, want %q", b.String(), tt.want)
		}
	}
}

// A price above the limit is told with the flag that raises it.
func TestPriceAboveTheLimit(t *testing.T) {
	reason := "example.com costs 13.06 USDC, which is more"
	err := &client.Error{Status: 400, Code: client.CodeValidation, Message: "maxPriceUsd: " + reason, Details: []api.Detail{{Field: "maxPriceUsd", Reason: reason}}}
	cmd := &cobra.Command{}
	cmd.Flags().String("server", "", "")
	var b strings.Builder
	want := "deed: --max-price: " + reason + "\n  hint: give a higher --max-price (DEED_MAX_PRICE); nothing was paid\n"
	if code := Report(&b, cmd, err); code != exitPayment || b.String() != want {
		t.Errorf("got %d, %q, want %q", code, b.String(), want)
	}
}
