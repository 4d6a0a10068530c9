package signertest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/signer"
)

// A Remote implements signer.Signer with a Web3Signer: it shows that the contract
// fits a service that holds the key.
type Remote struct {
	URL    string
	Wallet deed.Wallet
}

// Address implements signer.Signer.
func (r *Remote) Address() deed.Wallet { return r.Wallet }

// SignTransaction implements signer.Signer. The chain ID is not part of the
// request: the service is started for one chain.
func (r *Remote) SignTransaction(ctx context.Context, tx signer.Transaction) ([]byte, error) {
	return r.call(ctx, "eth_signTransaction", map[string]any{
		"from": r.Wallet, "to": tx.To, "nonce": hexutil.Uint64(tx.Nonce), "gas": hexutil.Uint64(tx.Gas), "value": "0x0", "data": hexutil.Bytes(tx.Data),
		"maxFeePerGas": (*hexutil.Big)(tx.MaxFee), "maxPriorityFeePerGas": (*hexutil.Big)(tx.MaxPriorityFee),
	})
}

// SignTypedData implements signer.Signer.
func (r *Remote) SignTypedData(ctx context.Context, data signer.TypedData) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return r.call(ctx, "eth_signTypedData", r.Wallet, string(text))
}

func (r *Remote) call(ctx context.Context, method string, params ...any) ([]byte, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	defer res.Body.Close() // it is read below
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the signer answers %s", method, res.Status)
	}
	var out struct {
		Result hexutil.Bytes `json:"result"`
		Error  *rpcError     `json:"error"`
	}
	if err := json.UnmarshalRead(res.Body, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if out.Error != nil {
		return nil, fmt.Errorf("%s: the signer says %w", method, *out.Error)
	}
	return out.Result, nil
}
