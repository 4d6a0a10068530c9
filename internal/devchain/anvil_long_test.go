//go:build long

package devchain_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"
	"github.com/holiman/uint256"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/npmtest"
)

// anvil is an independent EVM implementation.
type anvil struct{ url string }

func startAnvil(t *testing.T) anvil {
	t.Helper()
	npmtest.Install(t, peers)
	program, err := filepath.Abs(filepath.Join(peers, "node_modules/.bin/anvil"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--port", "0", "--accounts", "0", "--hardfork", "osaka",
		"--chain-id", fmt.Sprint(devchain.ChainID), "--base-fee", "5000000", "--gas-limit", "60000000")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start anvil (its package holds a program for linux-x64): %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // it ends with the test
		cmd.Wait()
	})
	listening := regexp.MustCompile(`Listening on ([0-9.:]+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { // so that anvil never blocks on a full pipe
				for lines.Scan() {
				}
			}()
			return anvil{"http://" + m[1]}
		}
	}
	t.Fatal("anvil ended before it listened")
	return anvil{}
}

func (a anvil) rpc(t *testing.T, result any, method string, params ...any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(a.url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it was read, or the test has failed
	var answer struct {
		Result json.RawMessage
		Error  *fault
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error != nil {
		t.Fatalf("anvil: %s: %v", method, answer.Error)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			t.Fatal(err)
		}
	}
}

// outcome is the part of a receipt that two chains must agree on.
type outcome struct {
	Status          hexutil.Uint64
	GasUsed         hexutil.Uint64
	Type            hexutil.Uint64
	From            common.Address
	To              *common.Address
	ContractAddress *common.Address
	LogsBloom       types.Bloom
	Logs            []struct {
		Address  common.Address
		Topics   []common.Hash
		Data     hexutil.Bytes
		LogIndex hexutil.Uint64
	}
}

// comparison is a Chain and anvil with the same initial state.
type comparison struct {
	*env
	anvil anvil
	owner wallet
	next  map[common.Address]uint64 // nonces
	sent  int
}

func newComparison(t *testing.T) *comparison {
	t.Helper()
	dir := t.TempDir()
	d := &comparison{env: openAt(t, dir, time.Now), anvil: startAnvil(t), next: map[common.Address]uint64{}}
	key, err := crypto.LoadECDSA(filepath.Join(dir, "faucet.key"))
	if err != nil {
		t.Fatal(err)
	}
	d.owner = wallet{key, crypto.PubkeyToAddress(key.PublicKey)}
	var eth hexutil.Big
	d.mustRPC(t, &eth, "eth_getBalance", d.owner.addr, "latest")
	d.anvil.rpc(t, nil, "anvil_setBalance", d.owner.addr, &eth)
	for _, a := range []common.Address{usdc, batch, makers} {
		var code hexutil.Bytes
		d.mustRPC(t, &code, "eth_getCode", a, "latest")
		d.anvil.rpc(t, nil, "anvil_setCode", a, code)
		d.anvil.rpc(t, nil, "anvil_setNonce", a, "0x1")
	}
	d.anvil.rpc(t, nil, "anvil_setStorageAt", usdc, "0x0", common.BytesToHash(d.owner.addr[:]))
	return d
}

// do sends one transaction to both and compares the outcomes.
func (d *comparison) do(t *testing.T, what string, w wallet, data types.TxData) outcome {
	t.Helper()
	tx := w.signWith(t, data)
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.post(t, tx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	d.next[w.addr]++
	d.sent++
	var got, want outcome
	d.mustRPC(t, &got, "eth_getTransactionReceipt", tx.Hash())
	d.anvil.rpc(t, &want, "eth_sendRawTransactionSync", hexutil.Bytes(raw)) // it returns the receipt
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: the outcomes differ for\n%x\n%s", what, tx.Data(), diff)
	}
	return got
}

func (d *comparison) call(t *testing.T, what string, w wallet, to *common.Address, data []byte) outcome {
	t.Helper()
	return d.do(t, what, w, &types.DynamicFeeTx{ChainID: big.NewInt(devchain.ChainID), Nonce: d.next[w.addr], To: to, Data: data,
		Gas: 5_000_000, GasFeeCap: big.NewInt(1e9), GasTipCap: big.NewInt(1e6)})
}

// fund returns a new wallet with the same balances on both chains.
func (d *comparison) fund(t *testing.T, amount int64) wallet {
	t.Helper()
	w := newWallet(t)
	d.do(t, "gift", d.owner, &types.LegacyTx{Nonce: d.next[d.owner.addr], To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1e9), Value: big.NewInt(2e18)})
	d.call(t, "mint", d.owner, &usdc, pack(t, d.token, "mint", w.addr, big.NewInt(amount)))
	return w
}

func TestAnvilAgreesOnPayments(t *testing.T) {
	d := newComparison(t)
	payer, payee, carrier := d.fund(t, 1_000_000), newWallet(t), d.fund(t, 1)
	pay := func(what string, status hexutil.Uint64, w wallet, data []byte) {
		t.Helper()
		if got := d.call(t, what, w, &usdc, data); got.Status != status {
			t.Errorf("%s: got status %d, want %d", what, got.Status, status)
		}
	}
	for _, typ := range []types.TxData{
		&types.LegacyTx{To: &payee.addr, Gas: 30000, GasPrice: big.NewInt(1e9), Value: big.NewInt(5)},
		&types.AccessListTx{ChainID: big.NewInt(devchain.ChainID), Nonce: 1, To: &usdc, Gas: 100_000, GasPrice: big.NewInt(1e9),
			AccessList: types.AccessList{{Address: usdc, StorageKeys: []common.Hash{{}}}},
			Data:       pack(t, d.token, "transfer", payee.addr, big.NewInt(3))},
	} {
		d.do(t, "an older type", payer, typ)
	}
	a := newTransfer(payer.addr, payee.addr, 100, "whole")
	good := a.data(t, d.env, "transferWithAuthorization", a.sign(t, payer, transferType))
	pay("whole signature", 1, carrier, good)
	pay("replay", 0, carrier, good)
	a = newTransfer(payer.addr, payee.addr, 100, "parts")
	pay("signature in parts", 1, carrier, a.split(t, d.env, "transferWithAuthorization", a.sign(t, payer, transferType)))
	pay("high s", 0, carrier, a.data(t, d.env, "transferWithAuthorization", highS(a.sign(t, payer, transferType))))
	a = newTransfer(payer.addr, payee.addr, 100, "gone")
	sig := payer.signed(t, cancelType, address(payer.addr), a.nonce[:])
	pay("cancel", 1, carrier, pack(t, d.token, overload(t, d.env, "cancelAuthorization", whole), payer.addr, a.nonce, sig))
	pay("cancelled", 0, carrier, a.data(t, d.env, "transferWithAuthorization", a.sign(t, payer, transferType)))
	pay("approve", 1, payer, pack(t, d.token, "approve", carrier.addr, big.NewInt(50)))
	pay("use of the whole allowance, with a refund", 1, carrier, pack(t, d.token, "transferFrom", payer.addr, payee.addr, big.NewInt(50)))
	pay("blacklist", 1, d.owner, pack(t, d.token, "blacklist", payee.addr))
	pay("transfer to a blacklisted", 0, payer, pack(t, d.token, "transfer", payee.addr, big.NewInt(1)))
	pay("unBlacklist", 1, d.owner, pack(t, d.token, "unBlacklist", payee.addr))
	pay("pause", 1, d.owner, pack(t, d.token, "pause"))
	pay("transfer of a paused token", 0, payer, pack(t, d.token, "transfer", payee.addr, big.NewInt(1)))
	pay("unpause", 1, d.owner, pack(t, d.token, "unpause"))

	calls := make([]call3, 64)
	for i := range calls {
		from := d.fund(t, 10)
		a := newTransfer(from.addr, payee.addr, int64(5+i%7), "many") // the payer runs out at the 11th
		calls[i] = call3{usdc, true, a.data(t, d.env, "transferWithAuthorization", a.sign(t, from, transferType))}
	}
	if got := d.call(t, "64 in a batch", carrier, &batch, pack(t, d.multicall, "aggregate3", calls)); len(got.Logs) < 100 {
		t.Errorf("got %d logs, want most of 128", len(got.Logs))
	}
	d.codeWallets(t, payer, payee)
	t.Logf("%d transactions with equal receipts", d.sent)
}

// codeWallets pays from smart contract wallets and from one with delegated code.
func (d *comparison) codeWallets(t *testing.T, owner, payee wallet) {
	t.Helper()
	salt := common.Hash{1}
	create := pack(t, d.factory, "createWallet", owner.addr, salt)
	d.call(t, "create by factory", owner, &makers, create)
	d.call(t, "create again", owner, &makers, create)
	contract := contracts.Compiled("Wallet")
	constructor, err := d.account.Pack("", owner.addr)
	if err != nil {
		t.Fatal(err)
	}
	made := d.call(t, "create", owner, nil, append(contract.Create, constructor...))
	payer := *made.ContractAddress
	d.call(t, "mint to code", d.owner, &usdc, pack(t, d.token, "mint", payer, big.NewInt(100)))
	a := newTransfer(payer, payee.addr, 60, "by code")
	d.call(t, "pay by code", owner, &usdc, a.data(t, d.env, "transferWithAuthorization", a.sign(t, owner, transferType)))

	borrower := d.fund(t, 100)
	auth, err := types.SignSetCode(borrower.key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(devchain.ChainID), Address: payer})
	if err != nil {
		t.Fatal(err)
	}
	d.do(t, "borrow code", owner, &types.SetCodeTx{ChainID: uint256.NewInt(devchain.ChainID), Nonce: d.next[owner.addr], To: borrower.addr,
		Gas: 200_000, GasFeeCap: uint256.NewInt(1e9), GasTipCap: uint256.NewInt(1e6), AuthList: []types.SetCodeAuthorization{auth}})
	a = newTransfer(borrower.addr, payee.addr, 60, "borrowed")
	d.call(t, "its own key", owner, &usdc, a.data(t, d.env, "transferWithAuthorization", a.sign(t, borrower, transferType)))
	d.call(t, "the code's owner", owner, &usdc, a.data(t, d.env, "transferWithAuthorization", a.sign(t, owner, transferType)))
}
