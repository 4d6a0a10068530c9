package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
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

	setAhead func(time.Duration) // of the embedded chain's clock; nil for a real chain
	close    func() error
}

func openChain(c *Config, log *slog.Logger) (*chainBackend, error) {
	keepOpen := func() error { return nil }
	if c.Hooks.Chain != nil {
		if err := os.MkdirAll(c.chainFolder(), 0o700); err != nil { // for the keys of our wallets
			return nil, fmt.Errorf("make the folder of the chain: %w", err)
		}
		return &chainBackend{Client: dialChain(c), sandbox: newSandbox(c, c.Hooks.Chain, c.ChainRPCURL.Reveal()), setAhead: c.Hooks.Chain.SetAhead, close: keepOpen}, nil
	}
	if c.ChainRPCURL != "" {
		return &chainBackend{Client: dialChain(c), close: keepOpen}, nil
	}
	return openEmbeddedChain(c, log)
}

func openEmbeddedChain(c *Config, log *slog.Logger) (*chainBackend, error) {
	embedded, err := devchain.Open(devchain.Config{Dir: c.chainFolder(), Now: time.Now, BlockInterval: blockInterval})
	if err != nil {
		return nil, fmt.Errorf("open the embedded chain: %w", err)
	}
	l, err := listen("chain.listen", c.ChainListen)
	if err != nil {
		return nil, errors.Join(err, embedded.Close())
	}
	// Serve from now on: opening the payments needs it.
	server := &http.Server{Handler: embedded.Handler(), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	client := newChainClient(c, network.EmbeddedChainID, "http://"+l.Addr().String())
	client.SetTransport(embedded.Transport())
	return &chainBackend{
		Client:   client,
		sandbox:  newSandbox(c, embedded, c.publicChainURL(l.Addr().String())),
		setAhead: embedded.SetAhead,
		close: func() error {
			err := server.Close()
			if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			return errors.Join(err, embedded.Close())
		},
	}, nil
}

// publicChainURL returns where callers reach the embedded chain that listens at the
// address: at the host of public_url, if it listens on all of its addresses.
func (c *Config) publicChainURL(address string) string {
	host, port, _ := net.SplitHostPort(address) // it is a listener's
	ip, _ := netip.ParseAddr(host)              // likewise
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" && c.SandboxPublic && ip.IsUnspecified() {
		host = u.Hostname()
	}
	return "http://" + net.JoinHostPort(host, port)
}

// newSandbox returns what callers see of the embedded chain, and its faucet.
func newSandbox(c *Config, embedded *devchain.Chain, endpoint string) *httpapi.Sandbox {
	return &httpapi.Sandbox{ChainID: network.EmbeddedChainID, RPCURL: endpoint, USDC: devchain.USDC, Public: c.SandboxPublic, Faucet: func(ctx context.Context, w deed.Wallet, amount deed.USDC) (string, deed.USDC, error) {
		txHash, balance, err := embedded.Faucet(ctx, string(w), int64(amount))
		return txHash, deed.USDC(balance), err
	}}
}

// dialChain returns a client for the configured endpoints.
func dialChain(c *Config) *chain.Client {
	urls := []string{c.ChainRPCURL.Reveal()}
	if c.ChainFallback != "" {
		urls = append(urls, c.ChainFallback.Reveal())
	}
	return newChainClient(c, c.ChainID, urls...)
}

// newChainClient returns a client that checks the chain ID of every endpoint before
// it uses it.
func newChainClient(c *Config, chainID uint64, urls ...string) *chain.Client {
	client := chain.Dial(urls...)
	client.ChainID, client.Quorum = chainID, c.ChainQuorum
	client.SetLogger(c.logger())
	if c.ChainTimeout > 0 {
		client.Timeout = c.ChainTimeout
	}
	return client
}
