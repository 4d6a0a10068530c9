package devchain_test

import (
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/devchain"
)

func TestPoolErrorsMatchGeth(t *testing.T) {
	b := open(t)
	w, pauper := b.fundedWallet(t, 1), newWallet(t)
	b.send(t, w, &w.addr, nil)
	price := func(nonce uint64, gas uint64, fee int64) *types.Transaction {
		return w.signWith(t, &types.LegacyTx{Nonce: nonce, To: &w.addr, Gas: gas, GasPrice: big.NewInt(fee)})
	}
	b.Pause()
	if err := b.post(t, price(1, 21000, 1e9)); err != nil {
		t.Fatal(err)
	}
	foreign, err := types.SignNewTx(w.key, types.LatestSignerForChainID(common.Big1), &types.LegacyTx{Nonce: 2, To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1e9)})
	if err != nil {
		t.Fatal(err)
	}
	unprotected, err := types.SignNewTx(w.key, types.HomesteadSigner{}, &types.LegacyTx{Nonce: 2, To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1e9)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tx   *types.Transaction
		want string
	}{
		"mined nonce":      {price(0, 21000, 1e9), "nonce too low: next nonce 1, tx nonce 0"},
		"sent twice":       {price(1, 21000, 1e9), "already known"},
		"same price":       {price(1, 30000, 1e9), "replacement transaction underpriced"},
		"too small a bump": {price(1, 21000, 1.09e9), "replacement transaction underpriced"},
		"little gas":       {price(2, 20999, 1e9), "intrinsic gas too low: gas 20999, minimum needed 21000"},
		"much gas":         {price(2, 17_000_000, 1e9), "transaction gas limit too high"},
		"no funds":         {pauper.signWith(t, &types.LegacyTx{To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1e9)}), "insufficient funds for gas * price + value: balance 0, tx cost 21000000000000, overshot 21000000000000"},
		"all funds twice":  {w.signWith(t, &types.LegacyTx{Nonce: 2, To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1e9), Value: big.NewInt(1e18 - 3e13)}), "insufficient funds for gas * price + value: balance"},
		"other chain":      {foreign, "invalid sender: invalid chain id for signer: have 1 want 84532"},
		"any chain":        {unprotected, "only replay-protected (EIP-155) transactions allowed over RPC"},
	} {
		if err := b.post(t, c.tx); err == nil || !strings.Contains(err.Error(), "-32000 "+c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestPauseAndReplacement(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 1)
	b.Pause()
	cheap := w.sign(t, 0, &w.addr, nil)
	dear := w.signWith(t, &types.DynamicFeeTx{ChainID: big.NewInt(devchain.ChainID), To: &w.addr, Gas: 21000,
		GasFeeCap: big.NewInt(1.2e9), GasTipCap: big.NewInt(1.2e6)})
	next := w.sign(t, 1, &w.addr, nil)
	for _, tx := range []*types.Transaction{next, cheap, dear} {
		if err := b.post(t, tx); err != nil {
			t.Fatal(err)
		}
	}
	var waiting *struct{ BlockNumber *hexutil.Uint64 }
	if b.mustRPC(t, &waiting, "eth_getTransactionByHash", dear.Hash()); waiting == nil || waiting.BlockNumber != nil {
		t.Errorf("got %+v, want a transaction without a block", waiting)
	}
	if b.mustRPC(t, &waiting, "eth_getTransactionByHash", cheap.Hash()); waiting != nil {
		t.Error("the replaced transaction is still there")
	}
	if r := b.receipt(t, dear.Hash()); r != nil {
		t.Error("a transaction was mined during a pause")
	}
	if got := b.nonce(t, w.addr); got != 2 {
		t.Errorf("got pending nonce %d, want 2", got)
	}
	var pending struct{ Transactions []common.Hash }
	b.mustRPC(t, &pending, "eth_getBlockByNumber", "pending", false)
	if len(pending.Transactions) != 2 || pending.Transactions[0] != dear.Hash() {
		t.Errorf("got pending %v, want %s first", pending.Transactions, dear.Hash())
	}
	b.Resume()
	last := w.sign(t, 2, &w.addr, nil)
	if err := b.post(t, last); err != nil { // it waits for a round, and rounds are in order
		t.Fatal(err)
	}
	for _, tx := range []*types.Transaction{dear, next, last} {
		if r := b.receipt(t, tx.Hash()); r == nil || r.Status != 1 {
			t.Errorf("%s: got %+v, want it mined", tx.Hash(), r)
		}
	}
	if b.receipt(t, cheap.Hash()) != nil {
		t.Error("the replaced transaction was mined")
	}
}

func TestNonceGapAndLowFeeWait(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 1)
	later := w.sign(t, 1, &w.addr, nil)
	low := w.signWith(t, &types.LegacyTx{Nonce: 0, To: &w.addr, Gas: 21000, GasPrice: big.NewInt(1)})
	for _, tx := range []*types.Transaction{later, low} {
		if err := b.post(t, tx); err != nil {
			t.Fatal(err)
		}
		if b.receipt(t, tx.Hash()) != nil {
			t.Errorf("%s was mined too early", tx.Hash())
		}
	}
	if err := b.post(t, w.sign(t, 0, &w.addr, nil)); err != nil { // outbids low, fills the gap
		t.Fatal(err)
	}
	if r := b.receipt(t, later.Hash()); r == nil {
		t.Error("the gap was filled and the transaction behind it was not mined")
	}
}

func TestRewind(t *testing.T) {
	b := open(t)
	payer, payee := b.fundedWallet(t, 100), newWallet(t)
	pay := func(n int64) receipt {
		return b.send(t, payer, &usdc, pack(t, b.token, "transfer", payee.addr, big.NewInt(n)))
	}
	kept, first, second := pay(1), pay(10), pay(20)
	dropped, err := b.Rewind(2)
	if err != nil || len(dropped) != 2 {
		t.Fatalf("got %d transactions, %v, want 2", len(dropped), err)
	}
	if got := b.usdcOf(t, payee.addr); got != 1 || b.receipt(t, first.TransactionHash) != nil || b.receipt(t, kept.TransactionHash) == nil {
		t.Errorf("after the rewind: got a balance of %d, want 1", got)
	}
	var none *struct{}
	if b.mustRPC(t, &none, "eth_getBlockByHash", second.BlockHash, false); none != nil {
		t.Error("a block that was rewound is still found")
	}
	var hash common.Hash
	b.mustRPC(t, &hash, "eth_sendRawTransaction", hexutil.Bytes(dropped[0]))
	again := b.receipt(t, first.TransactionHash)
	if hash != first.TransactionHash || again == nil || again.BlockHash == first.BlockHash || again.BlockNumber != first.BlockNumber {
		t.Errorf("sent again: got %+v, want the same number and another block", again)
	}
	if got := b.usdcOf(t, payee.addr); got != 11 {
		t.Errorf("got a balance of %d, want 11: the second transfer was dropped", got)
	}
	for _, n := range []int{0, -1, int(b.height(t)) + 1} {
		if _, err := b.Rewind(n); err == nil {
			t.Errorf("rewound %d blocks", n)
		}
	}
}

func TestBlockTimeIsWallClock(t *testing.T) {
	wall := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex // guards wall
	b := openAt(t, t.TempDir(), func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return wall
	})
	begin := wall.Unix()
	for _, c := range []struct {
		step time.Duration
		want int64 // seconds after the beginning
	}{
		{0, 0}, {0, 0}, {400 * time.Millisecond, 0}, {600 * time.Millisecond, 1}, {time.Hour, 3601},
		{-10 * time.Minute, 3601}, {11 * time.Minute, 3661},
	} {
		mu.Lock()
		wall = wall.Add(c.step)
		mu.Unlock()
		if err := b.Mine(); err != nil {
			t.Fatal(err)
		}
		var head struct{ Timestamp hexutil.Uint64 }
		b.mustRPC(t, &head, "eth_getBlockByNumber", "latest", false)
		if got := int64(head.Timestamp) - begin; got != c.want {
			t.Errorf("after a step of %s: got second %d, want %d", c.step, got, c.want)
		}
	}
}

// A call sees the wall clock even if the last block is old: it checks whether a
// payment would succeed now.
func TestCallsUseWallClock(t *testing.T) {
	var mu sync.Mutex // guards wall
	wall := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := openAt(t, t.TempDir(), func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return wall
	})
	payer := b.fundedWallet(t, 100)
	a := newTransfer(payer.addr, newWallet(t).addr, 1, "a minute")
	a.before = wall.Add(time.Minute).Unix()
	data := a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType))
	if _, err := b.call(usdc, data); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	wall = wall.Add(time.Minute)
	mu.Unlock()
	b.wantRevert(t, data, "FiatTokenV2: authorization is expired")
}

func TestBlockInterval(t *testing.T) {
	c, err := devchain.Open(devchain.Config{Dir: t.TempDir(), Now: time.Now, BlockInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // the test is over
	b := &env{Chain: c}
	for b.height(t) < 3 { // ends with the test's deadline if no block is produced
		if t.Context().Err() != nil {
			t.Fatal("no block was produced")
		}
	}
	w := b.fundedWallet(t, 1)
	b.Pause()
	tx := w.sign(t, 0, &w.addr, nil)
	if err := b.post(t, tx); err != nil {
		t.Fatal(err)
	}
	at := b.height(t)
	if err := b.Mine(); err != nil { // the only call that produces a block during a pause
		t.Fatal(err)
	}
	if got := b.height(t); got != at+1 {
		t.Errorf("got block %d after %d, want the next: the chain was paused", got, at)
	}
	if b.receipt(t, tx.Hash()) == nil {
		t.Error("the pending transaction was not in the block that Mine produced")
	}
}

func TestConcurrentSenders(t *testing.T) {
	b := open(t)
	payee := newWallet(t)
	payers := make([]wallet, 16)
	for i := range payers {
		payers[i] = b.fundedWallet(t, 1000)
	}
	var wg sync.WaitGroup
	for _, payer := range payers {
		wg.Go(func() {
			for n := range uint64(8) {
				if err := b.post(t, payer.sign(t, n, &usdc, pack(t, b.token, "transfer", payee.addr, big.NewInt(1)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := b.usdcOf(t, payee.addr); got != 16*8 {
		t.Errorf("got a balance of %d, want %d", got, 16*8)
	}
	b.checkReceipts(t)
}

// checkReceipts reads all blocks and checks that they are consistent with their receipts.
func (b *env) checkReceipts(t *testing.T) {
	t.Helper()
	parent := common.Hash{}
	for n := range b.height(t) + 1 {
		var blk struct {
			Hash, ParentHash common.Hash
			GasUsed          hexutil.Uint64
			LogsBloom        types.Bloom
			Transactions     []common.Hash
		}
		b.mustRPC(t, &blk, "eth_getBlockByNumber", hexutil.Uint64(n), false)
		var receipts []receipt
		b.mustRPC(t, &receipts, "eth_getBlockReceipts", hexutil.Uint64(n))
		var gas hexutil.Uint64
		var bloom types.Bloom
		index := uint(0)
		for i, r := range receipts {
			gas += r.GasUsed
			if r.CumulativeGasUsed != gas || r.TransactionHash != blk.Transactions[i] || int(r.TransactionIndex) != i {
				t.Errorf("block %d, receipt %d is inconsistent: %+v", n, i, r)
			}
			for _, l := range r.Logs {
				if l.Index != index || l.BlockNumber != n {
					t.Errorf("block %d: got log %d of block %d, want %d", n, l.Index, l.BlockNumber, index)
				}
				index++
				bloom.Add(l.Address[:])
				for _, topic := range l.Topics {
					bloom.Add(topic[:])
				}
			}
		}
		if blk.ParentHash != parent || blk.GasUsed != gas || blk.LogsBloom != bloom || len(receipts) != len(blk.Transactions) {
			t.Errorf("block %d is inconsistent with its receipts or its parent", n)
		}
		parent = blk.Hash
	}
}
