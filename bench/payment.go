package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/contracts"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/settle/signtest"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
)

// payments is how many payments one sample makes.
const payments = 512

// paymentBench is a chain, a funded payer, and a settler.
type paymentBench struct {
	chain         *devchain.Chain
	rpc           string
	payer, sender *ecdsa.PrivateKey // the sender of the bare transactions
	payTo         common.Address
	settler       *chain.Settler
	handNonce     uint64
}

// paymentRows compares checking and settling payments with the bare calls to the
// chain that they need.
func paymentRows() (rows []row, err error) {
	dir, db, shut, err := openDatabase()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	t, err := openPaymentBench(dir, db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.chain.Close()) }()
	var check, call, settled, bare []float64
	for range samples {
		for _, m := range []struct {
			measure func([]settle.Authorization) (float64, error)
			rates   *[]float64
		}{{t.check, &check}, {t.bareCalls, &call}, {t.settle, &settled}, {t.bareBatches, &bare}} {
			rate, err := m.measure(t.authorizations())
			if err != nil {
				return nil, err
			}
			*m.rates = append(*m.rates, rate)
		}
	}
	return []row{
		{"a payment checked", "one eth_call of the transfer", median(check), median(call), 0.70},
		{"payments settled, 512 at once, SQLite", "the chain given full batches, nothing written or proved", median(settled), median(bare), 0.50},
	}, nil
}

func openPaymentBench(dir string, db *sqldb.DB) (*paymentBench, error) {
	c, err := devchain.Open(devchain.Config{Dir: filepath.Join(dir, "chain"), Now: time.Now})
	if err != nil {
		return nil, err
	}
	addr, err := listen(func(l net.Listener) error { return http.Serve(l, c.Handler()) })
	if err != nil {
		return nil, err
	}
	t := &paymentBench{chain: c, rpc: "http://" + addr}
	keys := make([]*ecdsa.PrivateKey, 5)
	for i := range keys {
		if keys[i], err = crypto.GenerateKey(); err != nil {
			return nil, err
		}
		if _, _, err := c.Faucet(context.Background(), crypto.PubkeyToAddress(keys[i].PublicKey).Hex(), 1e12); err != nil {
			return nil, err
		}
	}
	t.payer, t.sender, t.payTo = keys[0], keys[1], crypto.PubkeyToAddress(keys[2].PublicKey)
	embedded := network.Embedded()
	embedded.BlockTime = 5 * time.Millisecond
	t.settler, err = chain.Open(context.Background(), chain.Config{
		Client: chain.Dial(t.rpc), Store: sqldb.Settlements{DB: db, ChainID: embedded.ChainID}, Now: time.Now,
		Network: embedded, PayTo: t.payTo, GasSigner: file.New(keys[3]), RefundSigner: file.New(keys[4]),
	})
	return t, err
}

// authorizations signs the payments of one sample.
func (t *paymentBench) authorizations() []settle.Authorization {
	coin := signtest.Token{Name: network.Embedded().Token.Name, ChainID: devchain.ChainID, Address: common.HexToAddress(devchain.USDC)}
	from, before := crypto.PubkeyToAddress(t.payer.PublicKey), time.Now().Add(5*time.Minute).Unix()
	out := make([]settle.Authorization, payments)
	for i := range out {
		var nonce [32]byte
		rand.Read(nonce[:]) // it never fails
		sig := coin.Sign(t.payer, signtest.Transfer, from, t.payTo, int64(100_000), int64(0), before, nonce)
		out[i] = settle.Authorization{
			Asset: network.Embedded().Asset(),
			Payer: deed.Wallet(strings.ToLower(from.Hex())), PayTo: deed.Wallet(strings.ToLower(t.payTo.Hex())), Amount: 100_000,
			ValidBefore: before, Nonce: hexutil.Encode(nonce[:]), Signature: sig,
		}
	}
	return out
}

// each runs f for every authorization, concurrently, and returns the rate per
// second.
func each(auths []settle.Authorization, workers int, f func(settle.Authorization) error) (float64, error) {
	var next atomic.Int64
	began := time.Now()
	err := atOnce(workers, func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(auths) {
				return nil
			}
			if err := f(auths[i]); err != nil {
				return err
			}
		}
	})
	return float64(len(auths)) / time.Since(began).Seconds(), err
}

func (t *paymentBench) check(auths []settle.Authorization) (float64, error) {
	return each(auths, 8, func(a settle.Authorization) error {
		_, err := t.settler.Check(context.Background(), a, nil)
		return err
	})
}

func (t *paymentBench) settle(auths []settle.Authorization) (float64, error) {
	return each(auths, payments, func(a settle.Authorization) error {
		_, err := t.settler.Settle(context.Background(), a)
		return err
	})
}

var (
	tokenABI = mustABI("USDC")
	batchABI = mustABI("Multicall")
)

func mustABI(name string) abi.ABI {
	a, err := abi.JSON(bytes.NewReader(contracts.Compiled(name).ABI))
	if err != nil {
		panic(err) // it is embedded
	}
	return a
}

// transfer returns the call data that executes an authorization.
func transfer(a settle.Authorization) []byte {
	data, err := tokenABI.Pack("transferWithAuthorization", common.HexToAddress(string(a.Payer)), common.HexToAddress(string(a.PayTo)), big.NewInt(int64(a.Amount)),
		big.NewInt(a.ValidAfter), big.NewInt(a.ValidBefore), common.HexToHash(a.Nonce), a.Signature)
	if err != nil {
		panic(err) // the types are right
	}
	return data
}

func (t *paymentBench) bareCalls(auths []settle.Authorization) (float64, error) {
	return each(auths, 8, func(a settle.Authorization) error {
		return t.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":%q,"data":%q},"latest"]}`, devchain.USDC, hexutil.Encode(transfer(a))))
	})
}

// bareBatches sends the authorizations in batches of 64, one transaction after the
// other.
func (t *paymentBench) bareBatches(auths []settle.Authorization) (float64, error) {
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	began := time.Now()
	for batch := range len(auths) / 64 {
		var calls []call
		for _, a := range auths[batch*64 : batch*64+64] {
			calls = append(calls, call{common.HexToAddress(devchain.USDC), true, transfer(a)})
		}
		data, err := batchABI.Pack("aggregate3", calls)
		if err != nil {
			return 0, err
		}
		to := common.HexToAddress(devchain.Multicall)
		tx, err := types.SignNewTx(t.sender, types.LatestSignerForChainID(big.NewInt(devchain.ChainID)), &types.DynamicFeeTx{
			ChainID: big.NewInt(devchain.ChainID), Nonce: t.handNonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9), Gas: 8_000_000, To: &to, Data: data,
		})
		if err != nil {
			return 0, err
		}
		t.handNonce++
		raw, err := tx.MarshalBinary()
		if err != nil {
			return 0, err
		}
		if err := t.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":[%q]}`, hexutil.Encode(raw))); err != nil {
			return 0, err
		}
	}
	return float64(len(auths)) / time.Since(began).Seconds(), nil
}

func (t *paymentBench) post(question string) error {
	res, err := http.Post(t.rpc, "application/json", strings.NewReader(question))
	if err != nil {
		return err
	}
	defer res.Body.Close() // it is read below
	answer, err := io.ReadAll(res.Body)
	if err == nil && bytes.Contains(answer, []byte(`"error"`)) {
		err = fmt.Errorf("the chain says %s", answer)
	}
	return err
}
