package app

import (
	"crypto/ecdsa"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/signer/signertest"
)

// onOtherChain returns the configuration of a node on the chain of another sandbox, and
// a function that gives test money.
func onOtherChain(t *testing.T) (c Config, fund func(keys ...*ecdsa.PrivateKey)) {
	t.Helper()
	other, faucet := serveNode(t, sandbox(t), newKey(t))
	c = sandbox(t)
	c.ChainRPCURL, c.AllowEmbedded, c.ChainDepth = deed.Secret(other.chain.sandbox.RPCURL), true, "1"
	c.PayTo, c.PublicURL = "0x71C7656EC7ab88b098defB751B7401B5f6d8976F", "http://deed.test"
	return c, func(keys ...*ecdsa.PrivateKey) {
		t.Helper()
		for _, k := range keys {
			if _, err := faucet.Faucet(t.Context(), api.FaucetRequest{WalletAddress: addressOf(k)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func addressOf(key *ecdsa.PrivateKey) string { return crypto.PubkeyToAddress(key.PublicKey).Hex() }

// onSigner changes the configuration to that of a node on another chain whose keys are
// at a Web3Signer.
func onSigner(t *testing.T, c *Config, fundToo ...*ecdsa.PrivateKey) *signertest.Web3Signer {
	t.Helper()
	there, fund := onOtherChain(t)
	gas, refund := newKey(t), newKey(t)
	fund(append(fundToo, gas, refund)...)
	keys := &signertest.Web3Signer{ChainID: network.EmbeddedChainID, Keys: []*ecdsa.PrivateKey{gas, refund}}
	service := httptest.NewServer(keys)
	t.Cleanup(service.Close)
	there.SignerURL, there.GasWallet, there.RefundWallet = deed.Secret(service.URL), addressOf(gas), addressOf(refund)
	there.Log, there.Database = c.Log, c.Database
	*c = there
	return keys
}

// A signerEnv is a node whose keys are at a Web3Signer, which goes down when a
// transaction is about to be signed.
type signerEnv struct {
	node   *App
	buyer  *client.Client
	keys   *signertest.Web3Signer
	faults local.Faults
	log    logtest.Buffer
	downIf atomic.Pointer[func() bool] // whether the next signature finds the signer down
}

func openSignerEnv(t *testing.T) *signerEnv {
	t.Helper()
	e := &signerEnv{}
	c, key := sandbox(t), newKey(t)
	e.keys = onSigner(t, &c, key)
	c.RequestWait, c.Log, c.Hooks.Faults = time.Second, slog.New(slog.NewJSONHandler(&e.log, nil)), &e.faults
	c.Limits.Register.Max = 1_000_000 // buy may ask often
	c.Hooks.Step = func(name string) {
		if down := e.downIf.Load(); name == "before store" && down != nil && (*down)() {
			e.downIf.Store(nil)
			e.keys.Down.Store(true)
		}
	}
	e.node, e.buyer = serveNode(t, c, key)
	return e
}

func (e *signerEnv) register(t *testing.T, domain string) string {
	t.Helper()
	_, err := e.buyer.Register(t.Context(), api.RegisterRequest{Domain: domain})
	return client.CodeOf(err)
}

// buy registers a name. It repeats requests that are refused before anything is paid, as
// they are on a busy machine while the signer is slow.
func (e *signerEnv) buy(t *testing.T, domain string) {
	t.Helper()
	waitFor(t, func() bool { return e.register(t, domain) != client.CodeUnavailable })
}

// shown waits until the metrics say whether the signer is up: 0 or 1.
func (e *signerEnv) shown(t *testing.T, up int) {
	t.Helper()
	waitFor(t, func() bool {
		return strings.Contains(scrape(t, e.node), fmt.Sprintf(`deed_dependency_up{name="signer"} %d`, up))
	})
}

// reached reports whether the log has the line about the name.
func (e *signerEnv) reached(t *testing.T, domain, line string) bool {
	t.Helper()
	return slices.Contains(linesOf(t, e.log.String(), domain), line)
}

// A node whose keys are at a Web3Signer sells and refunds, and has no key itself. While
// the signer is down, orders are refused before anything is paid, and what was paid
// waits: nothing is lost, and nothing is done twice.
func TestRemoteSigner(t *testing.T) {
	e := openSignerEnv(t)
	e.buy(t, "remote.com")
	waitFor(t, func() bool { return e.reached(t, "remote.com", "order.fulfilled") })
	if e.keys.Signed.Load() == 0 {
		t.Fatal("sold without a signature")
	}
	always := func() bool { return true }
	e.downIf.Store(&always) // for the payment of the next order
	e.buy(t, "waits.com")
	waitFor(t, e.keys.Down.Load)
	e.shown(t, 0)
	if code := e.register(t, "later.com"); code != client.CodeUnavailable {
		t.Errorf("a new order: got %q", code)
	}
	if !strings.Contains(e.log.String(), "signer is down") {
		t.Error("the log does not say that the signer is down")
	}
	if e.reached(t, "waits.com", "payment.settled") {
		t.Error("it is paid without a signer")
	}
	e.keys.Down.Store(false)
	waitFor(t, func() bool { return e.reached(t, "waits.com", "order.fulfilled") })
	e.shown(t, 1)

	if err := e.faults.Set(local.FaultRefuse, 1); err != nil {
		t.Fatal(err)
	}
	refunds := func() bool { return e.reached(t, "refused.com", "refund.due") }
	e.downIf.Store(&refunds) // for its refund, not for its payment
	e.buy(t, "refused.com")
	waitFor(t, e.keys.Down.Load)
	if e.reached(t, "refused.com", "refund.sent") {
		t.Errorf("got %v", linesOf(t, e.log.String(), "refused.com"))
	}
	e.keys.Down.Store(false)
	waitFor(t, func() bool { return e.reached(t, "refused.com", "refund.sent") })
	e.buy(t, "later.com")
	audited(t, e.node.config, 4, 1)
}

// audited waits until the books and the chain, of the configuration, agree about so many
// payments and refunds and nothing is open. The invariants hold all the time.
func audited(t *testing.T, c Config, payments, refunds int) {
	t.Helper()
	waitFor(t, func() bool {
		r, err := Audit(t.Context(), c, true)
		if err != nil || r.ChainErr != nil {
			t.Fatal(err, r.ChainErr)
		}
		for _, f := range r.Findings {
			if f.Broken > 0 {
				t.Fatalf("%s: %d rows", f.Invariant, f.Broken)
			}
		}
		return r.Open == 0 && r.Chain.Sound() && r.Chain.Transfers == payments && r.Chain.Payouts == refunds
	})
}

// A configuration with a signer and key files, or with half of either, is refused.
func TestSignerConfig(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"both": func(c *Config) {
			c.SignerURL, c.GasWallet, c.RefundWallet, c.GasKey = "http://signer", "0x1", "0x2", "gas.key"
		},
		"no addresses":  func(c *Config) { c.SignerURL = "http://signer" },
		"only a wallet": func(c *Config) { c.GasWallet = "0x1" },
	} {
		c := sandbox(t)
		change(&c)
		if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "chain.signer_url") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
