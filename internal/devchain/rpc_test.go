package devchain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/devchain"
)

func TestRPCRefusals(t *testing.T) {
	b := open(t)
	call := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
	}
	for name, c := range map[string]struct {
		body string
		code int
	}{
		"no JSON":           {`{"jsonrpc"`, -32700},
		"nothing":           {``, -32700},
		"two values":        {`{} {}`, -32700},
		"a million deep":    {strings.Repeat("[", 1_000_000), -32700},
		"no object":         {`7`, -32600},
		"no version":        {`{"id":1,"method":"eth_chainId"}`, -32600},
		"no method":         {`{"jsonrpc":"2.0","id":1}`, -32600},
		"odd id":            {`{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}`, -32600},
		"empty batch":       {`[]`, -32600},
		"large batch":       {"[" + strings.Repeat("1,", 1000) + "1]", -32600},
		"unknown method":    {call("eth_mine", `[]`), -32601},
		"params by name":    {call("eth_getBalance", `{"address":"0x"}`), -32602},
		"missing address":   {call("eth_getBalance", `[]`), -32602},
		"short address":     {call("eth_getBalance", `["0x12"]`), -32602},
		"too many":          {call("eth_getCode", `["0x036CbD53842c5426634e7929541eC2318f3dCF7e","latest",1]`), -32602},
		"odd tag":           {call("eth_getBlockByNumber", `["newest",false]`), -32602},
		"decimal number":    {call("eth_getBlockByNumber", `[12,false]`), -32602},
		"odd storage key":   {call("eth_getStorageAt", `["0x036CbD53842c5426634e7929541eC2318f3dCF7e","key"]`), -32602},
		"transaction bytes": {call("eth_sendRawTransaction", `["0x1234"]`), -32000},
		"block to come":     {call("eth_getBalance", `["0x036CbD53842c5426634e7929541eC2318f3dCF7e","0x99"]`), -32000},
		"both log ranges":   {call("eth_getLogs", `[{"fromBlock":"0x0","blockHash":"`+common.Hash{}.Hex()+`"}]`), -32602},
		"five topics":       {call("eth_getLogs", `[{"topics":[null,null,null,null,null]}]`), -32602},
	} {
		t.Run(name, func(t *testing.T) {
			var answer struct {
				Version string `json:"jsonrpc"`
				Error   *fault
			}
			w := b.ask(c.body)
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.Error == nil || answer.Error.Code != c.code || answer.Version != "2.0" {
				t.Errorf("got %s, want code %d", w.Body, c.code)
			}
		})
	}
	if w := b.ask(strings.Repeat(" ", 3<<20)); w.Code != 413 || !strings.Contains(w.Body.String(), "-32600") {
		t.Errorf("3 MB body: got %d %s, want 413", w.Code, w.Body)
	}
}

func TestRPCBatchAndNotifications(t *testing.T) {
	b := open(t)
	w := b.ask(`[{"jsonrpc":"2.0","id":"a","method":"eth_chainId"},
		{"jsonrpc":"2.0","method":"eth_blockNumber"}, 5,
		{"jsonrpc":"2.0","id":2,"method":"net_version","params":[]}]`)
	want := `[{"jsonrpc":"2.0","id":"a","result":"0x14a34"},` +
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}},` +
		`{"jsonrpc":"2.0","id":2,"result":"84532"}]`
	if got := w.Body.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w := b.ask(`{"jsonrpc":"2.0","method":"eth_chainId"}`); w.Body.Len() != 0 {
		t.Errorf("got the response %s to a notification", w.Body)
	}
}

func TestRPCFromBrowsers(t *testing.T) {
	b := open(t)
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest("OPTIONS", "/", nil))
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Headers") != "*" {
		t.Errorf("preflight: got %d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 405 {
		t.Errorf("GET: got %d, want 405", w.Code)
	}
	if got := b.ask(`{"jsonrpc":"2.0","id":1,"method":"eth_accounts"}`); got.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("POST: got headers %v", got.Header())
	}
}

func TestRPCConstants(t *testing.T) {
	b := open(t)
	for method, want := range map[string]string{
		"eth_chainId": `"0x14a34"`, "net_version": `"84532"`, "eth_syncing": `false`, "eth_accounts": `[]`,
		"eth_gasPrice": `"0x5b8d80"`, "eth_maxPriorityFeePerGas": `"0xf4240"`, "web3_clientVersion": `"deed-devchain/1"`,
	} {
		var got json.RawMessage
		if b.mustRPC(t, &got, method); string(got) != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

func TestBlocksByReference(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 1)
	r := b.send(t, w, &w.addr, nil)
	var head struct {
		Number       hexutil.Uint64
		Hash, Parent common.Hash
		Transactions []common.Hash
		GasUsed      hexutil.Uint64
		LogsBloom    types.Bloom
	}
	for _, ref := range []any{"latest", "safe", "finalized", r.BlockNumber} {
		b.mustRPC(t, &head, "eth_getBlockByNumber", ref, false)
		if head.Hash != r.BlockHash || len(head.Transactions) != 1 || head.Transactions[0] != r.TransactionHash || head.GasUsed != 21000 {
			t.Errorf("%v: got %+v, want the block of %s", ref, head, r.TransactionHash)
		}
	}
	b.mustRPC(t, &head, "eth_getBlockByHash", r.BlockHash, false)
	if head.Number != r.BlockNumber {
		t.Errorf("by hash: got %d, want %d", head.Number, r.BlockNumber)
	}
	b.mustRPC(t, &head, "eth_getBlockByNumber", "earliest", false)
	if head.Number != 0 {
		t.Errorf("earliest: got %d", head.Number)
	}
	var pending struct{ Number, Hash, Nonce any }
	b.mustRPC(t, &pending, "eth_getBlockByNumber", "pending", true)
	if pending.Number != hexutil.EncodeUint64(uint64(r.BlockNumber)+1) || pending.Hash != nil || pending.Nonce != nil {
		t.Errorf("pending: got %+v", pending)
	}
	for _, ref := range []any{"0xffff", hexutil.Uint64(1 << 60)} {
		var none *struct{}
		if b.mustRPC(t, &none, "eth_getBlockByNumber", ref, false); none != nil {
			t.Errorf("block %v exists", ref)
		}
	}
	var receipts []receipt
	b.mustRPC(t, &receipts, "eth_getBlockReceipts", "latest")
	if len(receipts) != 1 || receipts[0].TransactionHash != r.TransactionHash {
		t.Errorf("got receipts %+v", receipts)
	}
}

func TestTransactionsOfEveryType(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 1)
	id, price, fee := big.NewInt(devchain.ChainID), big.NewInt(1e9), big.NewInt(1e6)
	for typ, data := range []types.TxData{
		&types.LegacyTx{Nonce: 0, To: &usdc, Gas: 50_000, GasPrice: price},
		&types.AccessListTx{ChainID: id, Nonce: 1, To: &w.addr, Gas: 50_000, GasPrice: price, AccessList: types.AccessList{{Address: usdc}}},
		&types.DynamicFeeTx{ChainID: id, Nonce: 2, To: &w.addr, Gas: 50_000, GasFeeCap: price, GasTipCap: fee},
	} {
		tx := w.signWith(t, data)
		if err := b.post(t, tx); err != nil {
			t.Fatalf("type %d: %v", typ, err)
		}
		var got types.Transaction // unmarshaling checks each field and the signature
		b.mustRPC(t, &got, "eth_getTransactionByHash", tx.Hash())
		var at struct {
			From, To    common.Address
			BlockNumber *hexutil.Uint64
			GasPrice    hexutil.Uint64
		}
		b.mustRPC(t, &at, "eth_getTransactionByHash", tx.Hash())
		if got.Hash() != tx.Hash() || int(got.Type()) != typ || at.From != w.addr || at.BlockNumber == nil {
			t.Errorf("type %d: got %s of type %d from %s", typ, got.Hash(), got.Type(), at.From)
		}
	}
}

func TestCallOfCreationCode(t *testing.T) {
	b := open(t)
	// PUSH1 42, store, return 32 bytes: creation code that returns a value.
	var out hexutil.Bytes
	b.mustRPC(t, &out, "eth_call", map[string]any{"data": "0x602a60005260206000f3"}, "latest")
	if got := new(big.Int).SetBytes(out).Int64(); got != 42 {
		t.Errorf("got %x, want 42", out)
	}
	// JUMPDEST, PUSH1 0, JUMP: an infinite loop.
	err := b.rpc(&out, "eth_call", map[string]any{"data": "0x5b600056", "gas": hexutil.Uint64(1 << 60)}, "latest")
	if f, ok := errors.AsType[*fault](err); !ok || f.Code != -32000 || f.Message != "out of gas" {
		t.Errorf("endless call: got %v, want out of gas", err)
	}
}

func TestEstimateGas(t *testing.T) {
	b := open(t)
	payer, payee, carrier := b.fundedWallet(t, 1000), newWallet(t), b.fundedWallet(t, 1)
	a := newTransfer(payer.addr, payee.addr, 10, "estimated")
	data := a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType))
	var gas hexutil.Uint64
	b.mustRPC(t, &gas, "eth_estimateGas", map[string]any{"from": carrier.addr, "to": usdc, "data": hexutil.Bytes(data)})
	tx := carrier.signWith(t, &types.LegacyTx{Nonce: 0, To: &usdc, Data: data, Gas: uint64(gas), GasPrice: big.NewInt(1e9)})
	if err := b.post(t, tx); err != nil {
		t.Fatal(err)
	}
	r := b.receipt(t, tx.Hash())
	if r.Status != 1 || uint64(gas) > uint64(r.GasUsed)*11/10 {
		t.Errorf("got status %d with an estimate of %d for %d, want success with a little more", r.Status, gas, r.GasUsed)
	}
	err := b.rpc(&gas, "eth_estimateGas", map[string]any{"to": usdc, "data": hexutil.Bytes(data)})
	if f, ok := errors.AsType[*fault](err); !ok || f.Code != 3 {
		t.Errorf("a replay was estimated: %v", err)
	}
	b.mustRPC(t, &gas, "eth_estimateGas", map[string]any{"from": carrier.addr, "to": payee.addr, "value": "0x1"})
	if gas != 21000 {
		t.Errorf("plain transfer: got %d, want 21000", gas)
	}
}

func TestStateOfOlderBlocks(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 100)
	before := b.height(t)
	b.send(t, w, &usdc, pack(t, b.token, "transfer", newWallet(t).addr, big.NewInt(30)))
	for at, want := range map[any]int64{
		hexutil.Uint64(before): 100, "latest": 70, "earliest": 0,
		hexutil.Uint64(before + 1): 70,
	} {
		var out hexutil.Bytes
		b.mustRPC(t, &out, "eth_call", map[string]any{"to": usdc, "data": hexutil.Bytes(pack(t, b.token, "balanceOf", w.addr))}, at)
		if got := new(big.Int).SetBytes(out).Int64(); got != want {
			t.Errorf("at %v: got %d, want %d", at, got, want)
		}
	}
	var slot common.Hash
	b.mustRPC(t, &slot, "eth_getStorageAt", usdc, "0x0", "latest")
	if slot == (common.Hash{}) {
		t.Error("the token has no owner in slot 0")
	}
}
