// Package remote signs with keys that another service holds, through the eth1
// JSON-RPC interface of Web3Signer: the node never has the keys. The service is started
// for one chain, has rules of its own about what it signs, and can hold its keys in a
// vault or an HSM.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/urlerror"
)

const (
	maxResponse = 1 << 20 // bytes; a signed batch has some kilobytes
	openTimeout = 5 * time.Second
)

// A Signer implements signer.Signer for one account of the service.
type Signer struct {
	url    deed.Secret
	wallet deed.Wallet
	http   *http.Client
}

var _ signer.Signer = (*Signer)(nil)

// Open returns a signer for the wallet. It fails if the service does not answer, or does
// not have the key.
func Open(ctx context.Context, address deed.Secret, wallet deed.Wallet) (*Signer, error) {
	s := &Signer{url: address, wallet: wallet, http: &http.Client{
		// A redirect leads to a service that was not configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return s, s.Ping(ctx)
}

// Ping fails if the service does not answer, or does not have the key.
func (s *Signer) Ping(ctx context.Context) error {
	var accounts []string
	if err := s.call(ctx, &accounts, "eth_accounts"); err != nil {
		return err
	}
	if !slices.ContainsFunc(accounts, func(a string) bool { return strings.EqualFold(a, string(s.wallet)) }) {
		return fmt.Errorf("the signer does not have the key of %s", s.wallet)
	}
	return nil
}

// Address implements signer.Signer.
func (s *Signer) Address() deed.Wallet { return s.wallet }

// SignTransaction implements signer.Signer. The chain ID is not part of the request:
// the service is started for one chain.
func (s *Signer) SignTransaction(ctx context.Context, tx signer.Transaction) ([]byte, error) {
	var raw hexutil.Bytes
	err := s.call(ctx, &raw, "eth_signTransaction", map[string]any{
		"from": s.wallet, "to": tx.To, "nonce": hexutil.Uint64(tx.Nonce), "gas": hexutil.Uint64(tx.Gas), "value": "0x0", "data": hexutil.Bytes(tx.Data),
		"maxFeePerGas": (*hexutil.Big)(tx.MaxFee), "maxPriorityFeePerGas": (*hexutil.Big)(tx.MaxPriorityFee),
	})
	return raw, err
}

// SignTypedData implements signer.Signer.
func (s *Signer) SignTypedData(ctx context.Context, data signer.TypedData) ([]byte, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	var signature hexutil.Bytes
	err = s.call(ctx, &signature, "eth_signTypedData", s.wallet, string(text))
	return signature, err
}

// An rpcError is the error of a JSON-RPC response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// call makes one JSON-RPC call. Its errors do not have the address of the service, which
// may contain a password.
func (s *Signer) call(ctx context.Context, out any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.Reveal(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the address of the signer is malformed")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header["Idempotency-Key"] = nil // not sent: it allows a repetition when the signer has closed an idle connection
	res, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s of the signer: %w", method, urlerror.Cause(err))
	}
	defer res.Body.Close()               // it is read below, or not wanted
	if res.StatusCode != http.StatusOK { // with 101, the body is the connection, which no deadline ends
		return fmt.Errorf("%s: the signer answers with status %d", method, res.StatusCode)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("%s of the signer: %w", method, err)
	}
	result := struct {
		Result any       `json:"result"`
		Error  *rpcError `json:"error"`
	}{Result: out}
	if err := json.Unmarshal(raw, &result); err != nil {
		return fmt.Errorf("%s: decode the answer of the signer: %w", method, err)
	}
	if result.Error != nil {
		return fmt.Errorf("%s: the signer says %d: %s", method, result.Error.Code, result.Error.Message)
	}
	return nil
}
