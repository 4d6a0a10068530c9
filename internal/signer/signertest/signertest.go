// Package signertest is the suite that every signer.Signer passes, and a second
// implementation of the contract: a client of a small Web3Signer.
package signertest

import (
	"context"
	"crypto/ecdsa"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/signer"
)

// other is an address that is not the signer's.
const other deed.Wallet = "0x00000000000000000000000000000000000000cc"

// Run runs the suite. Open returns a signer with the key, for the embedded chain.
func Run(t *testing.T, open func(t *testing.T, key *ecdsa.PrivateKey) signer.Signer) {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, key)
	address := crypto.PubkeyToAddress(key.PublicKey)
	t.Run("Address", func(t *testing.T) {
		if w, err := deed.ParseWallet(address.Hex()); err != nil || s.Address() != w {
			t.Errorf("got %s, want %s, %v", s.Address(), w, err)
		}
	})
	t.Run("Transaction", func(t *testing.T) { checkTransaction(t, s, transaction(7)) })
	t.Run("TransactionWithoutData", func(t *testing.T) {
		tx := transaction(0)
		tx.Data, tx.To, tx.MaxPriorityFee = nil, s.Address(), new(big.Int)
		checkTransaction(t, s, tx)
	})
	t.Run("TypedData", func(t *testing.T) { checkTypedData(t, s, typedData(1)) })
	t.Run("Concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				checkTransaction(t, s, transaction(uint64(i)))
				checkTypedData(t, s, typedData(int64(i)))
			})
		}
		wg.Wait()
	})
	t.Run("EndedContext", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.SignTransaction(ctx, transaction(1)); err == nil {
			t.Error("a transaction is signed after the context ended")
		}
		if _, err := s.SignTypedData(ctx, typedData(1)); err == nil {
			t.Error("typed data is signed after the context ended")
		}
	})
}

func transaction(nonce uint64) signer.Transaction {
	return signer.Transaction{
		ChainID: network.EmbeddedChainID, Nonce: nonce, MaxFee: big.NewInt(3_000_000_000), MaxPriorityFee: big.NewInt(1_000_000),
		Gas: 150_000, To: other, Data: []byte{1, 2, 3, byte(nonce)},
	}
}

func typedData(amount int64) signer.TypedData {
	return signer.TypedData{
		Domain: network.Embedded().Domain(), Type: "TransferWithAuthorization",
		Fields: []signer.Field{
			signer.Address("from", other), signer.Address("to", other), signer.Uint256("value", amount),
			signer.Uint256("validAfter", 0), signer.Uint256("validBefore", 1<<40), signer.Bytes32("nonce", [32]byte{31: byte(amount)}),
		},
	}
}

// checkTransaction has the signer sign and compares the result with the request.
func checkTransaction(t *testing.T, s signer.Signer, want signer.Transaction) {
	t.Helper()
	data := slices.Clone(want.Data)
	raw, err := s.SignTransaction(t.Context(), want)
	if err != nil {
		t.Error(err)
		return
	}
	got := new(types.Transaction)
	if err := got.UnmarshalBinary(raw); err != nil {
		t.Errorf("got %x: %v", raw, err)
		return
	}
	from, err := types.Sender(types.LatestSignerForChainID(new(big.Int).SetUint64(want.ChainID)), got)
	if err != nil || from != common.HexToAddress(string(s.Address())) {
		t.Errorf("got sender %s, want %s, %v", from, s.Address(), err)
	}
	if got.Type() != types.DynamicFeeTxType || got.ChainId().Uint64() != want.ChainID || got.Nonce() != want.Nonce || got.Gas() != want.Gas ||
		got.GasFeeCap().Cmp(want.MaxFee) != 0 || got.GasTipCap().Cmp(want.MaxPriorityFee) != 0 || got.Value().Sign() != 0 ||
		got.To() == nil || *got.To() != common.HexToAddress(string(want.To)) || !slices.Equal(got.Data(), want.Data) || len(got.AccessList()) != 0 {
		t.Errorf("got another transaction than was asked for: %+v", got)
	}
	if !slices.Equal(data, want.Data) {
		t.Error("the request was changed")
	}
}

// checkTypedData has the signer sign, and recovers the key from the digest that
// go-ethereum computes from the JSON.
func checkTypedData(t *testing.T, s signer.Signer, data signer.TypedData) {
	t.Helper()
	got, err := s.SignTypedData(t.Context(), data)
	if err != nil {
		t.Error(err)
		return
	}
	raw, err := json.Marshal(data)
	if err != nil {
		t.Error(err)
		return
	}
	digest, err := digestOf(raw)
	if own := data.Digest(); err != nil || common.Hash(own) != digest {
		t.Errorf("got digest %x, go-ethereum has %x, %v", own, digest, err)
	}
	if len(got) != crypto.SignatureLength || got[64] != 27 && got[64] != 28 {
		t.Errorf("got signature %x, want 65 bytes with 27 or 28 at the end", got)
		return
	}
	sig := slices.Clone(got)
	sig[64] -= 27
	if !crypto.ValidateSignatureValues(sig[64], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:64]), true) {
		t.Errorf("got signature %x, want the low s", got)
	}
	key, err := crypto.SigToPub(digest[:], sig)
	if err != nil || crypto.PubkeyToAddress(*key) != common.HexToAddress(string(s.Address())) {
		t.Errorf("the signature is not of %s: %v", s.Address(), err)
	}
}

// digestOf hashes typed data in JSON, with go-ethereum's implementation of EIP-712.
func digestOf(raw []byte) (common.Hash, error) {
	var data apitypes.TypedData
	if err := json.Unmarshal(raw, &data); err != nil {
		return common.Hash{}, err
	}
	digest, _, err := apitypes.TypedDataAndHash(data)
	return common.BytesToHash(digest), err
}
