package signertest

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Web3Signer answers as Consensys Web3Signer does in its eth1 mode: it holds
// keys, is started for one chain, takes no chain ID in a request, and signs with
// dynamic fees when the request has them. Typed data comes as a JSON text.
type Web3Signer struct {
	ChainID uint64
	Keys    []*ecdsa.PrivateKey
	Down    atomic.Bool  // it answers with an error and signs nothing
	Lost    atomic.Bool  // it signs, and the answer is lost
	Signed  atomic.Int64 // how often it signed
}

// The error codes are those of Web3Signer.
var (
	errLocked = rpcError{-32000, "From address does not match an available account"}
	errParams = rpcError{-32602, "Invalid params"}
	errMethod = rpcError{-32601, "Method not found"}
)

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

type rpcRequest struct {
	Version string           `json:"jsonrpc"`
	ID      int64            `json:"id"`
	Method  string           `json:"method"`
	Params  []jsontext.Value `json:"params"`
}

type rpcResponse struct {
	Version string    `json:"jsonrpc"`
	ID      int64     `json:"id"`
	Result  any       `json:"result,omitzero"`
	Error   *rpcError `json:"error,omitzero"`
}

// ServeHTTP answers one JSON-RPC request.
func (s *Web3Signer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in rpcRequest
	if err := json.UnmarshalRead(r.Body, &in); err != nil || r.Method != http.MethodPost {
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	if s.Down.Load() {
		http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
		return
	}
	out := rpcResponse{Version: "2.0", ID: in.ID}
	result, err := s.answer(in)
	if e, ok := errors.AsType[rpcError](err); ok {
		out.Error = &e
	} else {
		out.Result = result
	}
	if s.Lost.Load() {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, out) // a caller that has left needs no answer
}

func (s *Web3Signer) answer(in rpcRequest) (any, error) {
	switch in.Method {
	case "eth_accounts":
		accounts := []string{}
		for _, key := range s.Keys {
			accounts = append(accounts, strings.ToLower(crypto.PubkeyToAddress(key.PublicKey).Hex()))
		}
		return accounts, nil
	case "eth_signTransaction":
		return s.signTransaction(in.Params)
	case "eth_signTypedData":
		return s.signTypedData(in.Params)
	}
	return nil, errMethod
}

// transactionRequest is the parameter of eth_signTransaction.
type transactionRequest struct {
	From                 common.Address  `json:"from"`
	To                   *common.Address `json:"to"`
	Gas                  *hexutil.Uint64 `json:"gas"`
	MaxFeePerGas         *hexutil.Big    `json:"maxFeePerGas"`
	MaxPriorityFeePerGas *hexutil.Big    `json:"maxPriorityFeePerGas"`
	Nonce                *hexutil.Uint64 `json:"nonce"`
	Value                *hexutil.Big    `json:"value"`
	Data                 hexutil.Bytes   `json:"data"`
}

func (s *Web3Signer) signTransaction(params []jsontext.Value) (any, error) {
	var in transactionRequest
	if len(params) != 1 || json.Unmarshal(params[0], &in) != nil || in.Nonce == nil || in.Gas == nil || in.MaxFeePerGas == nil || in.MaxPriorityFeePerGas == nil {
		return nil, errParams
	}
	key := s.key(in.From)
	if key == nil {
		return nil, errLocked
	}
	chainID := new(big.Int).SetUint64(s.ChainID)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: uint64(*in.Nonce), Gas: uint64(*in.Gas), To: in.To, Data: in.Data, Value: (*big.Int)(in.Value),
		GasFeeCap: (*big.Int)(in.MaxFeePerGas), GasTipCap: (*big.Int)(in.MaxPriorityFeePerGas),
	})
	if err != nil {
		return nil, errParams
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return nil, errParams
	}
	s.Signed.Add(1)
	return hexutil.Bytes(raw), nil
}

func (s *Web3Signer) signTypedData(params []jsontext.Value) (any, error) {
	var from common.Address
	var text string
	if len(params) != 2 || json.Unmarshal(params[0], &from) != nil || json.Unmarshal(params[1], &text) != nil {
		return nil, errParams
	}
	key := s.key(from)
	if key == nil {
		return nil, errLocked
	}
	digest, err := digestOf([]byte(text))
	if err != nil {
		return nil, errParams
	}
	signature, err := crypto.Sign(digest[:], key)
	if err != nil {
		return nil, errParams
	}
	signature[crypto.RecoveryIDOffset] += 27
	s.Signed.Add(1)
	return hexutil.Bytes(signature), nil
}

func (s *Web3Signer) key(address common.Address) *ecdsa.PrivateKey {
	for _, key := range s.Keys {
		if crypto.PubkeyToAddress(key.PublicKey) == address {
			return key
		}
	}
	return nil
}
