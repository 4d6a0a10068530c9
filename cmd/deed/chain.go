package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle/chain"
)

// blockInterval is how often the embedded chain makes a block when nothing happens, so
// that its clock does not stand still.
const blockInterval = 15 * time.Second

// A chainBackend is the chain: a real one, or the embedded one with its JSON-RPC
// listener.
type chainBackend struct {
	*chain.Client
	sandbox *httpapi.Sandbox // nil for a real chain
	close   func() error
}

func openChain(c *config, log *slog.Logger) (*chainBackend, error) {
	if c.ChainRPCURL != "" {
		return &chainBackend{Client: dialChain(c), close: func() error { return nil }}, nil
	}
	embedded, err := devchain.Open(devchain.Config{Dir: chainFolder(c), Now: time.Now, BlockInterval: blockInterval})
	if err != nil {
		return nil, fmt.Errorf("open the embedded chain: %w", err)
	}
	l, err := net.Listen("tcp", c.ChainListen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for wallets: %w", err), embedded.Close())
	}
	// Serve from now on: opening the payments needs it.
	server := &http.Server{Handler: embedded.Handler(), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	url := "http://" + l.Addr().String()
	client := chain.Dial(url)
	client.ChainID = network.EmbeddedChainID
	return &chainBackend{
		Client: client,
		sandbox: &httpapi.Sandbox{ChainID: network.EmbeddedChainID, RPCURL: url, USDC: devchain.USDC, Faucet: func(ctx context.Context, w deed.Wallet, amount deed.USDC) (string, deed.USDC, error) {
			txHash, balance, err := embedded.Faucet(ctx, string(w), int64(amount))
			return txHash, deed.USDC(balance), err
		}},
		close: func() error {
			err := server.Close()
			if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			return errors.Join(err, embedded.Close())
		},
	}, nil
}

// dialChain returns a client for the configured real chain.
func dialChain(c *config) *chain.Client {
	urls := []string{c.ChainRPCURL.Reveal()}
	if c.ChainFallback != "" {
		urls = append(urls, c.ChainFallback.Reveal())
	}
	client := chain.Dial(urls...)
	client.ChainID = c.ChainID // checked for every endpoint before it is used
	return client
}

func chainInWords(c *config) string {
	if c.ChainRPCURL != "" {
		return fmt.Sprintf("%d at %s", c.ChainID, shown(c.ChainRPCURL))
	}
	return fmt.Sprintf("%d, embedded, with play money, in %s", c.ChainID, chainFolder(c))
}

func chainFolder(c *config) string { return filepath.Join(c.Data, "chain") }
