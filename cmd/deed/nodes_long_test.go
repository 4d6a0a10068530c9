//go:build long

package main

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A sharedOrder is a change that a payer of its own pays for.
type sharedOrder struct {
	key           *ecdsa.PrivateKey
	body, payment string
	greedy        bool
}

// While two nodes settle payments of which some use up the gas of a transaction that they
// share, one node stands still for longer than the database waits for it, goes on, and is
// killed: honest payers get what they paid for, who gets nothing is not charged, and the
// books agree.
func TestTwoNodesShareTransactions(t *testing.T) {
	zero := start(t, t.TempDir()) // has the chain
	chain := newGreedy(t, zero)
	dir, site := t.TempDir(), siteOn(t, zero, chain.server.URL)
	nodes := []*node{start(t, dir, site...), start(t, t.TempDir(), site...)}
	owner := newKey(t)
	zero.faucet(t, owner, "1000.00")
	payment, spent := nodes[0].payment(t, owner, "/domains/register", registerBody)
	waitFor(t, func() bool {
		status, _ := nodes[0].send(t, "/domains/register", registerBody, payment)
		return status == 201
	})
	for _, n := range nodes {
		n.token = n.signIn(t, owner).AccessToken
	}
	var orders []*sharedOrder
	var price deed.USDC
	for i := range 24 {
		o := &sharedOrder{key: newKey(t), body: fmt.Sprintf(`{"type":"A","host":"h%d","value":"192.0.2.%d"}`, i, i+1), greedy: i%3 == 0}
		zero.faucet(t, o.key, "1.00")
		o.payment, price = nodes[i%2].payment(t, o.key, recordCase.path, o.body)
		if o.greedy {
			chain.lend(t, o.key)
		}
		orders = append(orders, o)
	}
	disturb(t, nodes, chain, orders)
	delivered := 0
	for i, o := range orders {
		if o.delivered(t, nodes[0]) {
			delivered++
		} else if !o.greedy {
			t.Errorf("honest payer %d gets nothing", i)
		}
	}
	for i, o := range orders {
		have, got := zero.faucet(t, o.key, "1.00"), o.delivered(t, nodes[0])
		if want := map[bool]deed.USDC{true: 2_000_000 - price, false: 2_000_000}[got]; have != want.String() {
			t.Errorf("payer %d has %s, want %s", i, have, want)
		}
	}
	cmd := exec.Command(binary, "admin", "audit", "--data", dir)
	cmd.Env = site
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("%d transfers of %s USDC", 1+delivered, spent+price*deed.USDC(delivered)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("audit: %v, want %q in %s", err, want, out)
	}
	nodes[0].stop(t)
	zero.stop(t)
}

// siteOn returns the settings of two nodes that use a chain at an address.
func siteOn(t *testing.T, zero *node, chain string) []string {
	t.Helper()
	dir := t.TempDir()
	site := []string{
		"DEED_DATABASE_URL=" + sqldbtest.MigratedPostgresURL(t), "DEED_DATABASE_IDLE_TIMEOUT=3s",
		"DEED_SIGNIN_KEYS=" + filepath.Join(dir, "keys"), "DEED_DNS_KEY=" + filepath.Join(dir, "dns.key"), "DEED_LIMITS_DNS=100000", "DEED_LIMITS_REGISTER=1000",
		"DEED_CHAIN_RPC_URL=" + chain, "DEED_REGISTRAR_ALLOW_EMBEDDED=true", "DEED_PAY_TO=" + crypto.PubkeyToAddress(newKey(t).PublicKey).Hex(),
	}
	for _, role := range []string{"GAS", "REFUND"} {
		key, file := newKey(t), filepath.Join(dir, role)
		if err := os.WriteFile(file, []byte(hex.EncodeToString(crypto.FromECDSA(key))), 0o600); err != nil {
			t.Fatal(err)
		}
		zero.faucet(t, key, "1000.00")
		site = append(site, "DEED_CHAIN_"+role+"_KEY="+file)
	}
	return site
}

// disturb places all orders, half of them at either node. The second one stands still when a
// payment is sent again, goes on, and is killed.
func disturb(t *testing.T, nodes []*node, chain *greedy, orders []*sharedOrder) {
	t.Helper()
	frozen := make(chan struct{})
	chain.arm(func() {
		nodes[1].cmd.Process.Signal(syscall.SIGSTOP)
		close(frozen)
	})
	var all sync.WaitGroup
	for i, o := range orders {
		all.Go(func() { nodes[i%2].send(t, recordCase.path, o.body, o.payment) })
	}
	<-frozen
	time.Sleep(10 * time.Second) // the database does not wait for so long
	nodes[1].cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(time.Second) // anything may happen meanwhile
	nodes[1].cmd.Process.Signal(syscall.SIGKILL)
	all.Wait()
}

// delivered repeats the order until it is known whether it is delivered. That of a greedy
// payer may wait for long.
func (o *sharedOrder) delivered(t *testing.T, n *node) bool {
	t.Helper()
	status := 0
	waitFor(t, func() bool {
		status, _ = n.send(t, recordCase.path, o.body, o.payment)
		return status == 201 || status == 402 || status == 503 && o.greedy
	})
	return status == 201
}

// A greedy passes requests to the chain, and just before a transaction with several transfers
// lets some of their payers borrow code that uses up gas.
type greedy struct {
	server *httptest.Server
	chain  string // the address of its endpoint
	key    *ecdsa.PrivateKey
	nonce  uint64

	mu     sync.Mutex // guards all below
	armed  bool
	burner common.Address
	loans  []types.SetCodeAuthorization
	stop   func() // called when something is sent after that
	sent   int
	shared int
}

func newGreedy(t *testing.T, zero *node) *greedy {
	g := &greedy{chain: zero.sandbox(t).RPCURL, key: newKey(t)}
	zero.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(g.key.PublicKey).Hex()}, nil)
	g.burner = crypto.CreateAddress(crypto.PubkeyToAddress(g.key.PublicKey), 0)
	g.send(t, &types.DynamicFeeTx{
		ChainID: big.NewInt(devchain.ChainID), Nonce: 0, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), Gas: 200_000,
		Data: common.FromHex("635b600056600052" + "6004601cf3"),
	})
	g.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.pass(t, w, r) }))
	t.Cleanup(g.server.Close)
	return g
}

func (g *greedy) post(body []byte) ([]byte, error) {
	res, err := http.Post(g.chain, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // it is read below
	return io.ReadAll(res.Body)
}

func (g *greedy) send(t *testing.T, tx types.TxData) {
	raw, err := types.MustSignNewTx(g.key, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), tx).MarshalBinary()
	if err != nil {
		t.Error(err)
	}
	answer, err := g.post(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":[%q]}`, hexutil.Encode(raw)))
	if err != nil || bytes.Contains(answer, []byte("error")) {
		t.Errorf("send: %s, %v", answer, err)
	}
	waitFor(t, func() bool {
		answer, err := g.post(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionCount","params":[%q,"latest"]}`, crypto.PubkeyToAddress(g.key.PublicKey)))
		return err == nil && bytes.Contains(answer, fmt.Appendf(nil, "%q", hexutil.EncodeUint64(g.nonce+1)))
	})
	g.nonce++
}

func (g *greedy) lend(t *testing.T, key *ecdsa.PrivateKey) {
	auth, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(devchain.ChainID), Address: g.burner})
	if err != nil {
		t.Fatal(err)
	}
	g.loans = append(g.loans, auth)
}

func (g *greedy) arm(stop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed, g.stop = true, stop
}

func (g *greedy) pass(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if bytes.Contains(body, []byte("eth_sendRawTransaction")) {
		g.sending(t, len(body))
	}
	answer, err := g.post(body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(answer)
}

func (g *greedy) sending(t *testing.T, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.armed {
		return
	}
	g.sent++
	const several = 2500 // bytes of a transaction with several transfers
	switch {
	case len(g.loans) > 0 && size > several:
		g.shared++
		g.send(t, &types.SetCodeTx{
			ChainID: uint256.NewInt(devchain.ChainID), Nonce: g.nonce, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(2e9),
			Gas: 100_000 + 50_000*uint64(len(g.loans)), AuthList: g.loans,
		})
		g.loans = nil
	case g.shared > 0 && g.stop != nil && g.sent > g.shared+2:
		g.stop()
		g.stop = nil
	}
}
