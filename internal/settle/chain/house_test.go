package chain_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
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
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/settle/settletest"
	"deed.example/deed/internal/settle/signtest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A house is an embedded chain, a way to it that can be broken, and what a
// settler needs.
type house struct {
	*devchain.Chain
	t     *testing.T
	way   *way
	url   string
	cfg   chain.Config
	payer *ecdsa.PrivateKey
	until int64 // the end of what is signed

	mu    sync.Mutex // guards ahead
	ahead time.Duration
}

// price is what a test pays.
const price = deed.USDC(100_000)

func newHouse(t *testing.T, db *sqldb.DB) *house {
	t.Helper()
	h := &house{t: t, until: time.Now().Add(time.Hour).Unix()}
	var err error
	if h.Chain, err = devchain.Open(devchain.Config{Dir: t.TempDir(), Now: h.now}); err != nil {
		t.Fatal(err)
	}
	h.way = &way{next: h.Handler()}
	server := httptest.NewServer(h.way)
	t.Cleanup(func() { h.way.mend(); server.Close(); h.Close() }) // the chain goes away with the test
	h.url = server.URL
	hot, hotWallet := newKey(t)
	purse, purseWallet := newKey(t)
	_, treasury := newKey(t)
	h.cfg = houseConfig(t, server.URL, db)
	h.cfg.Now, h.cfg.HotKey, h.cfg.RefundKey = h.now, hot, purse
	h.cfg.PayTo = common.HexToAddress(string(treasury))
	h.give(hotWallet, 1) // for its gas
	h.give(purseWallet, 1_000_000_000)
	var payer deed.Wallet
	h.payer, payer = newKey(t)
	h.give(payer, 1_000_000_000)
	return h
}

// eachHouse opens a house on both databases.
func eachHouse(t *testing.T, f func(t *testing.T, h *house)) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newHouse(t, db)) })
}

// patient is a client that a busy machine does not make fail.
func patient(urls ...string) *chain.Client {
	c := chain.Dial(urls...)
	c.Patience = time.Minute
	return c
}

// houseConfig has all but the clock, the keys and the treasury.
func houseConfig(t *testing.T, url string, db *sqldb.DB) chain.Config {
	t.Helper()
	return chain.Config{
		Client: patient(url), Store: sqldb.Settlements{DB: db, ChainID: devchain.ChainID},
		ChainID: devchain.ChainID, USDC: common.HexToAddress(devchain.USDC), Name: "USDC", Version: "2",
		Multicall: common.HexToAddress(devchain.Multicall), Poll: 5 * time.Millisecond,
		Depth: func(deed.USDC) uint64 { return 1 },
	}
}

func (h *house) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.ahead)
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	h.ahead += d
	h.mu.Unlock()
}

func (h *house) give(w deed.Wallet, amount int64) {
	h.t.Helper()
	if _, _, err := h.Faucet(h.t.Context(), string(w), amount); err != nil {
		h.t.Fatal(err)
	}
}

// settler opens one as the house is set up now.
func (h *house) settler() *chain.Settler {
	h.t.Helper()
	s, err := chain.Open(h.t.Context(), h.cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *house) bench() settletest.Bench {
	return settletest.Bench{
		Settler: h.settler(),
		Pay:     h.pay, Cancel: h.cancel, Stranger: h.stranger,
		Expire: func() {
			h.pass(2 * time.Hour)
			h.mine(1)
		},
		Break: h.way.lose, Mend: h.way.mend, Moved: h.moved, Balance: h.usdc,
	}
}

func (h *house) mine(n int) {
	h.t.Helper()
	for range n {
		if err := h.Mine(); err != nil {
			h.t.Fatal(err)
		}
	}
}

// pay signs a payment of the house's payer. It is the same for the same nonce.
func (h *house) pay(nonce string) deed.Authorization {
	return h.payFrom(h.payer, nonce)
}

func (h *house) payFrom(key *ecdsa.PrivateKey, nonce string) deed.Authorization {
	return h.signed(key, deed.Authorization{
		Payer: walletAt(crypto.PubkeyToAddress(key.PublicKey)), PayTo: walletAt(h.cfg.PayTo), Amount: price,
		ValidBefore: h.until,
		Nonce:       crypto.Keccak256Hash([]byte(nonce)).Hex(),
	})
}

func word(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }
func padded(w deed.Wallet) []byte {
	return common.LeftPadBytes(common.HexToAddress(string(w)).Bytes(), 32)
}
func keccak(parts ...[]byte) []byte    { return crypto.Keccak256(parts...) }
func bytesOf(h string) (b []byte)      { return common.FromHex(h) }
func selector(signature string) []byte { return keccak([]byte(signature))[:4] }

func addressOf(w deed.Wallet) common.Address        { return common.HexToAddress(string(w)) }
func nonceOf(a deed.Authorization) (nonce [32]byte) { return common.HexToHash(a.Nonce) }

// coin is the token that payments are signed for.
func (h *house) coin() signtest.Token {
	return signtest.Token{Name: "USDC", ChainID: devchain.ChainID, Address: h.cfg.USDC}
}

func (h *house) signed(key *ecdsa.PrivateKey, a deed.Authorization) deed.Authorization {
	h.t.Helper()
	a.Signature = h.coin().Sign(key, signtest.Transfer, addressOf(a.Payer), addressOf(a.PayTo), int64(a.Amount), a.ValidAfter, a.ValidBefore, nonceOf(a))
	return a
}

// cancel spends the nonce of one of the house's payer's payments on nothing.
func (h *house) cancel(a deed.Authorization) {
	h.t.Helper()
	sig := h.coin().Sign(h.payer, signtest.Cancel, addressOf(a.Payer), nonceOf(a))
	h.act(devchain.USDC, slices.Concat(selector("cancelAuthorization(address,bytes32,bytes)"), padded(a.Payer), bytesOf(a.Nonce),
		word(96), word(65), common.RightPadBytes(sig, 96)))
}

func (h *house) act(to string, data []byte) (txHash string) {
	h.t.Helper()
	txHash, _, err := h.Act(h.t.Context(), to, data)
	if err != nil {
		h.t.Fatal(err)
	}
	return txHash
}

func transferCall(a deed.Authorization) []byte {
	return slices.Concat(bytesOf("0xcf092995"), padded(a.Payer), padded(a.PayTo), word(int64(a.Amount)), word(a.ValidAfter),
		word(a.ValidBefore), bytesOf(a.Nonce), word(7*32), word(65), common.RightPadBytes(a.Signature, 96))
}

// stranger settles payments in one transaction that is not ours.
func (h *house) stranger(all ...deed.Authorization) string {
	h.t.Helper()
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	var calls []call
	for _, a := range all {
		calls = append(calls, call{h.cfg.USDC, false, transferCall(a)})
	}
	multicall, err := abi.JSON(bytes.NewReader(contracts.Compiled("Multicall").ABI))
	if err != nil {
		h.t.Fatal(err)
	}
	data, err := multicall.Pack("aggregate3", calls)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.act(devchain.Multicall, data)
}

// rpc asks the chain, past the way that can be broken.
func (h *house) rpc(out any, method string, params ...any) {
	h.t.Helper()
	question, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		h.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(question))
	r.Header.Set("Content-Type", "application/json")
	h.way.next.ServeHTTP(w, r)
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Error != nil {
		h.t.Fatalf("%s: got %s, %v", method, w.Body, err)
	}
	if err := json.Unmarshal(answer.Result, out); err != nil {
		h.t.Fatal(err)
	}
}

// moved counts the transfers to us.
func (h *house) moved() int {
	h.t.Helper()
	var logs []json.RawMessage
	h.rpc(&logs, "eth_getLogs", map[string]any{
		"address": devchain.USDC, "fromBlock": "0x0", "toBlock": "latest",
		"topics": []any{"0x" + hex.EncodeToString(keccak([]byte("Transfer(address,address,uint256)"))), nil, common.BytesToHash(h.cfg.PayTo[:])},
	})
	return len(logs)
}

func (h *house) usdc(w deed.Wallet) deed.USDC {
	h.t.Helper()
	var answer hexutil.Bytes
	h.rpc(&answer, "eth_call", map[string]any{"to": devchain.USDC, "data": hexutil.Encode(slices.Concat(selector("balanceOf(address)"), padded(w)))}, "latest")
	return deed.USDC(new(big.Int).SetBytes(answer).Int64())
}

func (h *house) nonceOf(key *ecdsa.PrivateKey) uint64 {
	h.t.Helper()
	var n hexutil.Uint64
	h.rpc(&n, "eth_getTransactionCount", crypto.PubkeyToAddress(key.PublicKey), "latest")
	return uint64(n)
}
