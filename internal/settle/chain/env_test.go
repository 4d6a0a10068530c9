package chain_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/settle/settletest"
	"deed.example/deed/internal/settle/signtest"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A testEnv is an embedded chain, a proxy that can be broken, and what a
// settler needs.
type testEnv struct {
	*devchain.Chain
	t     *testing.T
	proxy *proxy
	url   string
	cfg   chain.Config
	token common.Address
	payer *ecdsa.PrivateKey
	until int64 // the end of what is signed

	gasKey, refundKey *ecdsa.PrivateKey // of the signers in cfg

	mu    sync.Mutex // guards ahead
	ahead time.Duration
}

// price is what a test pays.
const price = deed.USDC(100_000)

func newEnv(t *testing.T, db *sqldb.DB) *testEnv {
	t.Helper()
	env := &testEnv{t: t, until: time.Now().Add(time.Hour).Unix()}
	var err error
	if env.Chain, err = devchain.Open(devchain.Config{Dir: t.TempDir(), Now: env.now}); err != nil {
		t.Fatal(err)
	}
	env.proxy = &proxy{next: env.Handler()}
	server := httptest.NewServer(env.proxy)
	t.Cleanup(func() { env.proxy.repair(); server.Close(); env.Close() }) // the chain goes away with the test
	env.url = server.URL
	gasKey, gasWallet := newKey(t)
	refundKey, refundWallet := newKey(t)
	_, treasury := newKey(t)
	env.cfg = envConfig(t, server.URL, db)
	env.cfg.Now, env.token = env.now, addressOf(env.cfg.Network.Token.Address)
	env.signWith(gasKey, refundKey)
	env.cfg.PayTo = common.HexToAddress(string(treasury))
	env.give(gasWallet, 1) // for its gas
	env.give(refundWallet, 1_000_000_000)
	var payer deed.Wallet
	env.payer, payer = newKey(t)
	env.give(payer, 1_000_000_000)
	return env
}

// eachEnv opens an environment on both databases.
func eachEnv(t *testing.T, f func(t *testing.T, env *testEnv)) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newEnv(t, db)) })
}

// patient is a client that a busy machine does not make fail.
func patient(urls ...string) *chain.Client {
	c := chain.Dial(urls...)
	c.Timeout = time.Minute
	return c
}

// envConfig has all but the clock, the keys and the treasury.
func envConfig(t *testing.T, url string, db *sqldb.DB) chain.Config {
	t.Helper()
	embedded := network.Embedded()
	embedded.BlockTime = 5 * time.Millisecond
	return chain.Config{Client: patient(url), Store: sqldb.Settlements{DB: db, ChainID: embedded.ChainID}, Network: embedded}
}

// signWith makes settlers sign with the keys from now on.
func (env *testEnv) signWith(gasKey, refundKey *ecdsa.PrivateKey) {
	env.gasKey, env.refundKey = gasKey, refundKey
	env.cfg.GasSigner, env.cfg.RefundSigner = file.New(gasKey), file.New(refundKey)
}

func (env *testEnv) now() time.Time {
	env.mu.Lock()
	defer env.mu.Unlock()
	return time.Now().Add(env.ahead)
}

func (env *testEnv) pass(d time.Duration) {
	env.mu.Lock()
	env.ahead += d
	env.mu.Unlock()
}

func (env *testEnv) give(w deed.Wallet, amount int64) {
	env.t.Helper()
	if _, _, err := env.Faucet(env.t.Context(), string(w), amount); err != nil {
		env.t.Fatal(err)
	}
}

// settler opens one as the environment is set up now.
func (env *testEnv) settler() *chain.Settler {
	env.t.Helper()
	s, err := chain.Open(env.t.Context(), env.cfg)
	if err != nil {
		env.t.Fatal(err)
	}
	return s
}

func (env *testEnv) fixture() settletest.Fixture {
	s := env.settler()
	return settletest.Fixture{
		Verifier: s, Settler: s, Chain: s,
		Pay: env.pay, Cancel: env.cancel, ThirdParty: env.thirdParty,
		Expire: func() {
			env.pass(2 * time.Hour)
			env.mine(1)
		},
		Drain: env.drain, Fill: func() { env.give(walletAt(crypto.PubkeyToAddress(env.payer.PublicKey)), 1_000_000_000) },
		Break: env.proxy.lose, Repair: env.proxy.repair, Moved: env.moved, Balance: env.usdc,
	}
}

func (env *testEnv) mine(n int) {
	env.t.Helper()
	for range n {
		if err := env.Mine(); err != nil {
			env.t.Fatal(err)
		}
	}
}

// pay signs a payment of the environment's payer. It is the same for the same nonce.
func (env *testEnv) pay(nonce string) settle.Authorization {
	return env.payFrom(env.payer, nonce)
}

func (env *testEnv) payFrom(key *ecdsa.PrivateKey, nonce string) settle.Authorization {
	return env.signed(key, settle.Authorization{
		Asset: env.cfg.Network.Asset(),
		Payer: walletAt(crypto.PubkeyToAddress(key.PublicKey)), PayTo: walletAt(env.cfg.PayTo), Amount: price,
		ValidBefore: env.until,
		Nonce:       crypto.Keccak256Hash([]byte(nonce)).Hex(),
	})
}

func word(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
func padded(w deed.Wallet) []byte {
	return common.LeftPadBytes(common.HexToAddress(string(w)).Bytes(), 32)
}
func keccak(parts ...[]byte) []byte    { return crypto.Keccak256(parts...) }
func bytesOf(text string) (b []byte)   { return common.FromHex(text) }
func selector(signature string) []byte { return keccak([]byte(signature))[:4] }

func addressOf(w deed.Wallet) common.Address          { return common.HexToAddress(string(w)) }
func nonceOf(a settle.Authorization) (nonce [32]byte) { return common.HexToHash(a.Nonce) }

// coin is the token that payments are signed for.
func (env *testEnv) coin() signtest.Token {
	return signtest.Token{Name: "USDC", ChainID: devchain.ChainID, Address: env.token}
}

func (env *testEnv) signed(key *ecdsa.PrivateKey, a settle.Authorization) settle.Authorization {
	env.t.Helper()
	a.Signature = env.coin().Sign(key, signtest.Transfer, addressOf(a.Payer), addressOf(a.PayTo), int64(a.Amount), a.ValidAfter, a.ValidBefore, nonceOf(a))
	return a
}

// cancel spends the nonce of one of the environment's payer's payments on nothing.
func (env *testEnv) cancel(a settle.Authorization) {
	env.t.Helper()
	sig := env.coin().Sign(env.payer, signtest.Cancel, addressOf(a.Payer), nonceOf(a))
	env.act(devchain.USDC, slices.Concat(selector("cancelAuthorization(address,bytes32,bytes)"), padded(a.Payer), bytesOf(a.Nonce),
		word(96), word(65), common.RightPadBytes(sig, 96)))
}

// drain moves all that the environment's payer has to somebody else.
func (env *testEnv) drain() {
	env.t.Helper()
	all := env.pay(fmt.Sprint("drain ", env.now()))
	all.PayTo, all.Amount = "0x00000000000000000000000000000000000000cc", env.usdc(all.Payer)
	env.thirdParty(env.signed(env.payer, all))
}

// refundOf is a refund of a payment that nobody made.
func refundOf(payer deed.Wallet, nonce int, amount deed.USDC) settle.Refund {
	return settle.Refund{PaymentID: fmt.Sprint("pay_", nonce), Payer: payer, Nonce: fmt.Sprintf("0x%064x", nonce), Amount: amount}
}

func (env *testEnv) refundLater(s *chain.Settler, r settle.Refund) <-chan answer {
	return later(func() (string, error) { return s.Refund(env.t.Context(), r) })
}

func (env *testEnv) act(to string, data []byte) (txHash string) {
	env.t.Helper()
	txHash, _, err := env.SendFromFaucet(env.t.Context(), to, data)
	if err != nil {
		env.t.Fatal(err)
	}
	return txHash
}

func transferCall(a settle.Authorization) []byte {
	return slices.Concat(bytesOf("0xcf092995"), padded(a.Payer), padded(a.PayTo), word(int64(a.Amount)), word(a.ValidAfter),
		word(a.ValidBefore), bytesOf(a.Nonce), word(7*32), word(65), common.RightPadBytes(a.Signature, 96))
}

// stranger settles payments in one transaction of a third party.
func (env *testEnv) thirdParty(all ...settle.Authorization) string {
	env.t.Helper()
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	var calls []call
	for _, a := range all {
		calls = append(calls, call{env.token, false, transferCall(a)})
	}
	multicall, err := abi.JSON(bytes.NewReader(contracts.Compiled("Multicall").ABI))
	if err != nil {
		env.t.Fatal(err)
	}
	data, err := multicall.Pack("aggregate3", calls)
	if err != nil {
		env.t.Fatal(err)
	}
	return env.act(devchain.Multicall, data)
}

// rpc asks the chain, past the proxy.
func (env *testEnv) rpc(out any, method string, params ...any) {
	env.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		env.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	env.proxy.next.ServeHTTP(w, r)
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Error != nil {
		env.t.Fatalf("%s: got %s, %v", method, w.Body, err)
	}
	if err := json.Unmarshal(answer.Result, out); err != nil {
		env.t.Fatal(err)
	}
}

// moved counts the transfers to us.
func (env *testEnv) moved() int {
	env.t.Helper()
	var logs []json.RawMessage
	env.rpc(&logs, "eth_getLogs", map[string]any{
		"address": devchain.USDC, "fromBlock": "0x0", "toBlock": "latest",
		"topics": []any{"0x" + hex.EncodeToString(keccak([]byte("Transfer(address,address,uint256)"))), nil, common.BytesToHash(env.cfg.PayTo[:])},
	})
	return len(logs)
}

func (env *testEnv) usdc(w deed.Wallet) deed.USDC {
	env.t.Helper()
	var answer hexutil.Bytes
	env.rpc(&answer, "eth_call", map[string]any{"to": devchain.USDC, "data": hexutil.Encode(slices.Concat(selector("balanceOf(address)"), padded(w)))}, "latest")
	return deed.USDC(new(big.Int).SetBytes(answer).Int64())
}

func (env *testEnv) nonceOf(key *ecdsa.PrivateKey) uint64 {
	env.t.Helper()
	var n hexutil.Uint64
	env.rpc(&n, "eth_getTransactionCount", crypto.PubkeyToAddress(key.PublicKey), "latest")
	return uint64(n)
}

func addressOfKey(key *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(key.PublicKey) }
