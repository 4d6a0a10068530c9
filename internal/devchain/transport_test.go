package devchain_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A process that embeds the chain gets the same answers without a connection.
func TestTransport(t *testing.T) {
	b := open(t)
	client := http.Client{Transport: b.Chain.Transport()}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`,
		`[{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]},{"jsonrpc":"2.0","id":2,"method":"eth_mine"}]`,
		`{"jsonrpc"`,
	} {
		res, err := client.Post("http://chain.invalid", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if want := b.ask(body).Body.String(); string(got) != want || res.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d %s, want %s", body, res.StatusCode, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://chain.invalid", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was cancelled: %v", err)
	}
	if _, err := client.Get("http://chain.invalid"); err == nil {
		t.Error("a request without a body was answered")
	}
}
