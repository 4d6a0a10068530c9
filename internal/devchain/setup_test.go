package devchain_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

var (
	signer = types.LatestSignerForChainID(big.NewInt(devchain.ChainID))
	usdc   = common.HexToAddress(devchain.USDC)
	batch  = common.HexToAddress(devchain.Multicall)
	makers = common.HexToAddress(devchain.WalletFactory)
)

// env is a chain, called through its JSON-RPC, and the ABIs of its contracts.
type env struct {
	*devchain.Chain
	token, multicall, factory, account abi.ABI
}

func open(t testing.TB) *env { return openAt(t, t.TempDir(), time.Now) }

func openAt(t testing.TB, dir string, now func() time.Time) *env {
	t.Helper()
	c, err := devchain.Open(devchain.Config{Dir: dir, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // some tests have closed it already
	return &env{c, readABI(t, "USDC"), readABI(t, "Multicall"), readABI(t, "WalletFactory"), readABI(t, "Wallet")}
}

func readABI(t testing.TB, name string) abi.ABI {
	t.Helper()
	a, err := abi.JSON(bytes.NewReader(contracts.Compiled(name).ABI))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// fault is an error response of the chain.
type fault struct {
	Code    int
	Message string
	Data    string
}

func (f *fault) Error() string { return fmt.Sprintf("%d %s", f.Code, f.Message) }

// ask posts body and returns the response.
func (b *env) ask(body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader(body)))
	return w
}

// rpc calls a method and decodes its result.
func (b *env) rpc(result any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	w := b.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, p))
	var answer struct {
		Result json.RawMessage
		Error  *fault
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		return fmt.Errorf("answer %q: %w", w.Body, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return json.Unmarshal(answer.Result, result)
}

func (b *env) mustRPC(t testing.TB, result any, method string, params ...any) {
	t.Helper()
	if err := b.rpc(result, method, params...); err != nil {
		t.Fatalf("%s%v: %v", method, params, err)
	}
}

// call makes an eth_call.
func (b *env) call(to common.Address, data []byte) ([]byte, error) {
	var out hexutil.Bytes
	err := b.rpc(&out, "eth_call", map[string]any{"to": to, "data": hexutil.Bytes(data)}, "latest")
	return out, err
}

// wallet is an account with a key.
type wallet struct {
	key  *ecdsa.PrivateKey
	addr common.Address
}

var wallets atomic.Uint64

// newWallet returns a wallet that no other test uses: its key is a counter.
func newWallet(t testing.TB) wallet {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256(fmt.Append(nil, "wallet ", wallets.Add(1))))
	if err != nil {
		t.Fatal(err)
	}
	return wallet{key, crypto.PubkeyToAddress(key.PublicKey)}
}

// fundedWallet returns a wallet with test USDC and ETH.
func (b *env) fundedWallet(t testing.TB, amount int64) wallet {
	t.Helper()
	w := newWallet(t)
	if _, _, err := b.Faucet(t.Context(), w.hex(), amount); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w wallet) hex() string { return strings.ToLower(w.addr.Hex()) }

// receipt has the fields of a receipt that the tests use.
type receipt struct {
	Status            hexutil.Uint64
	BlockNumber       hexutil.Uint64
	BlockHash         common.Hash
	TransactionHash   common.Hash
	TransactionIndex  hexutil.Uint64
	GasUsed           hexutil.Uint64
	CumulativeGasUsed hexutil.Uint64
	ContractAddress   *common.Address
	LogsBloom         types.Bloom
	Logs              []*types.Log
}

// sign returns a signed transaction with the given nonce.
func (w wallet) sign(t testing.TB, nonce uint64, to *common.Address, data []byte) *types.Transaction {
	t.Helper()
	return w.signWith(t, &types.DynamicFeeTx{
		ChainID: big.NewInt(devchain.ChainID), Nonce: nonce, To: to, Data: data,
		Gas: 8_000_000, GasFeeCap: big.NewInt(1e7), GasTipCap: big.NewInt(1e6),
	})
}

func (w wallet) signWith(t testing.TB, data types.TxData) *types.Transaction {
	t.Helper()
	tx, err := types.SignNewTx(w.key, signer, data)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func (b *env) nonce(t testing.TB, a common.Address) uint64 {
	t.Helper()
	var n hexutil.Uint64
	b.mustRPC(t, &n, "eth_getTransactionCount", a, "pending")
	return uint64(n)
}

// post submits a signed transaction.
func (b *env) post(t testing.TB, tx *types.Transaction) error {
	t.Helper()
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var hash common.Hash
	if err := b.rpc(&hash, "eth_sendRawTransaction", hexutil.Bytes(raw)); err != nil {
		return err
	}
	if hash != tx.Hash() {
		t.Errorf("got hash %s, want %s", hash, tx.Hash())
	}
	return nil
}

// send sends data from w to a contract, or creates one, and returns the receipt.
func (b *env) send(t testing.TB, w wallet, to *common.Address, data []byte) receipt {
	t.Helper()
	tx := w.sign(t, b.nonce(t, w.addr), to, data)
	if err := b.post(t, tx); err != nil {
		t.Fatal(err)
	}
	r := b.receipt(t, tx.Hash())
	if r == nil {
		t.Fatalf("transaction %s was not mined", tx.Hash())
	}
	return *r
}

func (b *env) receipt(t testing.TB, hash common.Hash) *receipt {
	t.Helper()
	var r *receipt
	b.mustRPC(t, &r, "eth_getTransactionReceipt", hash)
	return r
}

func (b *env) height(t testing.TB) uint64 {
	t.Helper()
	var n hexutil.Uint64
	b.mustRPC(t, &n, "eth_blockNumber")
	return uint64(n)
}

// usdcOf returns a balance in millionths.
func (b *env) usdcOf(t testing.TB, a common.Address) int64 {
	t.Helper()
	out, err := b.call(usdc, pack(t, b.token, "balanceOf", a))
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Int).SetBytes(out).Int64()
}

func pack(t testing.TB, a abi.ABI, method string, args ...any) []byte {
	t.Helper()
	data, err := a.Pack(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
