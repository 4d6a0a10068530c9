package e2e_test

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/settle/signtest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

// An env is a service that sells names on an embedded chain and registry.
type env struct {
	*service
	keys    []*ecdsa.PrivateKey
	chain   *devchain.Chain
	faults  *local.Faults
	settler *chain.Settler
	payTo   common.Address
	clock   *clock // of the jobs and the registry

	registry  *local.Registry
	lifecycle *registration.Lifecycle
	dns       *nameserver.Server
	follower  *zone.Follower
	db        *sqldb.DB
	rpc       string
	ahead     time.Duration // of the chain's clock
}

func openEnv(t *testing.T, o options) *env {
	t.Helper()
	c, rpc := openChain(t)
	keys := make([]*ecdsa.PrivateKey, 3)
	for i := range keys {
		keys[i] = newAccount(t).key
		if _, _, err := c.Faucet(t.Context(), crypto.PubkeyToAddress(keys[i].PublicKey).Hex(), 1_000_000_000_000); err != nil {
			t.Fatal(err)
		}
	}
	s := &env{keys: keys, chain: c, faults: &local.Faults{Slow: time.Millisecond}, payTo: crypto.PubkeyToAddress(keys[0].PublicKey), clock: newClock(), rpc: rpc.URL}
	o.limits = generous()
	more := o.config
	o.config = func(c *app.Config) {
		c.DNSListen, c.ChainBlockTime = "127.0.0.1:0", 5*time.Millisecond
		c.Hooks.Chain, c.Hooks.Now, c.Hooks.Faults = s.chain, s.clock.Now, s.faults
		s.setChain(t, c)
		if more != nil {
			more(c)
		}
	}
	s.use(open(t, o))
	return s
}

// setChain sets the endpoint of the chain, the treasury and the keys of the wallets.
func (s *env) setChain(t *testing.T, c *app.Config) {
	t.Helper()
	c.ChainRPCURL, c.PayTo = deed.Secret(s.rpc), s.payTo.Hex()
	dir := filepath.Join(c.Data, "chain")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"treasury.key", "gas.key", "refund.key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(hex.EncodeToString(crypto.FromECDSA(s.keys[i]))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// use makes a service the node that the env calls.
func (s *env) use(h *service) {
	s.service, s.db, s.settler = h, h.db, h.app.Settler
	s.registry, s.lifecycle, s.dns, s.follower = h.app.Registry, h.app.Lifecycle, h.app.NameServer, h.app.Follower
}

// wire opens another node with the env's configuration, chain, treasury and keys, and
// uses it from now on.
func (s *env) wire(t *testing.T) {
	t.Helper()
	s.setChain(t, &s.config)
	s.use(openConfig(t, s.config, options{}))
}

// secondNode returns another node of the same service.
func (s *env) secondNode(t *testing.T) *env {
	t.Helper()
	n := *s
	n.wire(t)
	return &n
}

// eachEnv runs f with an env on each database.
func eachEnv(t *testing.T, f func(t *testing.T, s *env)) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, openEnv(t, options{db: db})) })
}

// buyer returns a wallet with money.
func (s *env) buyer(t *testing.T) *account {
	t.Helper()
	a := newAccount(t)
	if _, _, err := s.chain.Faucet(t.Context(), string(a.wallet), 1_000_000_000); err != nil {
		t.Fatal(err)
	}
	return a
}

// promise is a payment authorization (EIP-3009) that is not signed yet.
type promise struct {
	from, to              common.Address
	value, after, before  *big.Int
	nonce                 [32]byte
	key                   *ecdsa.PrivateKey
	network, asset, payTo string
	token                 string // its name in what is signed
	chainID               int64
	malleate              bool                          // sign with the high s
	wrap                  func(signature []byte) []byte // may be nil
}

// promise returns a valid authorization of the amount, to be changed and signed.
func (s *env) promise(a *account, amount deed.USDC) *promise {
	p := &promise{
		from: common.HexToAddress(string(a.wallet)), to: s.payTo, value: big.NewInt(int64(amount)), after: new(big.Int),
		before: big.NewInt(time.Now().Add(5 * time.Minute).Unix()), key: a.key, network: "eip155:84532", asset: devchain.USDC, payTo: s.payTo.Hex(),
		token: "USDC", chainID: devchain.ChainID,
	}
	rand.Read(p.nonce[:]) // it never fails
	return p
}

// sign signs like a wallet (EIP-712).
func (p *promise) sign() []byte {
	sig := p.coin().Sign(p.key, signtest.Transfer, p.from, p.to, p.value, p.after, p.before, p.nonce)
	if p.malleate {
		n := crypto.S256().Params().N
		new(big.Int).Sub(n, new(big.Int).SetBytes(sig[32:64])).FillBytes(sig[32:64])
		sig[64] ^= 27 ^ 28
	}
	if p.wrap != nil {
		return p.wrap(sig)
	}
	return sig
}

// coin returns the token that the promise is signed for.
func (p *promise) coin() signtest.Token {
	return signtest.Token{Name: p.token, ChainID: p.chainID, Address: common.HexToAddress(devchain.USDC)}
}

func (p *promise) authorization() string {
	return fmt.Sprintf(`{"from":%q,"to":%q,"value":%q,"validAfter":%q,"validBefore":%q,"nonce":"0x%x"}`,
		p.from.Hex(), p.to.Hex(), p.value.String(), p.after.String(), p.before.String(), p.nonce)
}

// header returns the payment for PAYMENT-SIGNATURE.
func (p *promise) header(t *testing.T) string {
	t.Helper()
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		`{"x402Version":2,"accepted":{"scheme":"exact","network":%q,"amount":%q,"asset":%q,"payTo":%q,"maxTimeoutSeconds":300,"extra":{"name":"USDC","version":"2"}},"payload":{"signature":"0x%s","authorization":%s}}`,
		p.network, p.value.String(), p.asset, p.payTo, hex.EncodeToString(p.sign()), p.authorization()))
}

// headerV1 returns the payment for X-PAYMENT.
func (p *promise) headerV1(t *testing.T) string {
	t.Helper()
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"x402Version":1,"scheme":"exact","network":"base-sepolia","payload":{"signature":"0x%s","authorization":%s}}`,
		hex.EncodeToString(p.sign()), p.authorization()))
}

const comPrice deed.USDC = 13_060_000

// register orders a name, with a payment unless it is "".
func (s *env) register(t *testing.T, domain, payment string) answer {
	t.Helper()
	headers := []string{}
	if payment != "" {
		headers = []string{"PAYMENT-SIGNATURE", payment}
	}
	return s.do(t, "POST", "/domains/register", fmt.Sprintf(`{"domain":%q}`, domain), headers...)
}

// balance returns the test USDC of an address.
func (s *env) balance(t *testing.T, a common.Address) deed.USDC {
	t.Helper()
	question := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":%q,"data":"0x70a08231%064x"},"latest"]}`, devchain.USDC, a.Bytes())
	res, err := http.Post(s.rpc, "application/json", strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	var answer struct {
		Result hexutil.Bytes `json:"result"`
	}
	if err := json.UnmarshalRead(res.Body, &answer, json.RejectUnknownMembers(false)); err != nil {
		t.Fatal(err)
	}
	return deed.USDC(new(big.Int).SetBytes(answer.Result).Int64())
}

// readChain finds payments that were settled without a request.
func (s *env) readChain(t *testing.T) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.api.Payments.ReadChain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// runWorker advances everything that is due until nothing is open any more, and
// moves the clock of jobs and registry forward.
func (s *env) runWorker(t *testing.T) {
	t.Helper()
	for range 2000 {
		s.readChain(t)
		payments, err := s.api.Payments.Due(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		refunds, err := s.api.Payments.DueRefunds(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		payments = append(payments, refunds...)
		for _, id := range payments {
			_, _ = s.api.Payments.Advance(t.Context(), id) // what is open stays due
		}
		jobs, err := s.api.Payments.DueJobs(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range jobs {
			_ = s.api.Payments.AdvanceJob(t.Context(), id) // likewise
		}
		changes, err := s.api.Payments.DueChanges(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range changes {
			_ = s.api.Payments.AdvanceJob(t.Context(), id) // likewise
		}
		cancellations, err := s.api.Registrations.Cancels.DueCancellations(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, reference := range cancellations {
			_ = s.api.Registrations.AdvanceCancellation(t.Context(), reference) // likewise
		}
		if s.open(t) == 0 {
			return
		}
		if len(payments)+len(jobs)+len(changes)+len(cancellations) == 0 {
			s.clock.advance(time.Second)
		}
	}
	t.Fatal("some payment or job never ends")
}

// open counts the payments and jobs that have not ended.
func (s *env) open(t *testing.T) int {
	t.Helper()
	n, err := sqldb.Audit{DB: s.db}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// audit fails the test if an invariant is violated.
func (s *env) audit(t *testing.T) {
	t.Helper()
	s.auditSince(t, time.Time{})
	if c := s.compare(t); !c.Sound() || c.Transfers == 0 {
		t.Errorf("the books and the chain differ: %+v", c)
	}
}

// auditSince fails the test if what changed since a time violates an invariant.
func (s *env) auditSince(t *testing.T, since time.Time) {
	t.Helper()
	findings, err := sqldb.Audit{DB: s.db}.RunSince(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken > 0 {
			t.Errorf("%d × %s", f.Broken, f.Invariant)
		}
	}
}

// compare compares the books with the chain.
func (s *env) compare(t *testing.T) fulfil.Comparison {
	t.Helper()
	c, err := s.api.Payments.Compare(t.Context(), sqldb.Audit{DB: s.db}, s.settler, fulfil.Checkpoint{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func job(t *testing.T, h *service, id string) api.Job {
	return read[api.Job](t, h.get(t, "/domains/status/"+id))
}
