package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"
)

// Balance returns the USDC balance of a wallet. An empty rpcURL means the
// embedded chain of a sandbox; for real money it is any JSON-RPC endpoint of the
// network.
func (c *Client) Balance(ctx context.Context, rpcURL string, wallet common.Address) (USDC, error) {
	if rpcURL == "" {
		s, err := c.Sandbox(ctx)
		if err != nil {
			return 0, fmt.Errorf("find the chain: %w", err)
		}
		rpcURL = s.RPCURL
	}
	raw, err := c.callRPC(ctx, rpcURL, `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`)
	if err != nil {
		return 0, err
	}
	coin, ok := coins["eip155:"+new(big.Int).SetBytes(raw).String()]
	if !ok {
		return 0, errors.New("this chain has no USDC that we know")
	}
	const balanceOf = "0x70a08231"
	raw, err = c.callRPC(ctx, rpcURL, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":%q,"data":"%s%064x"},"latest"]}`, coin.address.Hex(), balanceOf, wallet.Bytes()))
	if err != nil {
		return 0, err
	}
	n := new(big.Int).SetBytes(raw)
	if !n.IsInt64() {
		return 0, errors.New("the chain names more USDC than there can be")
	}
	return USDC(n.Int64()), nil
}

// callRPC sends one JSON-RPC request and returns the bytes of the result.
func (c *Client) callRPC(ctx context.Context, rpcURL, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", rpcURL, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // it is read below
	var out struct {
		Result string `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.UnmarshalRead(io.LimitReader(res.Body, maxAnswer), &out); err != nil {
		return nil, fmt.Errorf("read the chain's answer: %w", err)
	}
	if out.Error != nil {
		return nil, fmt.Errorf("the chain says: %s", out.Error.Message)
	}
	if len(out.Result)%2 == 1 { // a quantity has no leading zeros
		out.Result = "0x0" + out.Result[min(2, len(out.Result)):]
	}
	return hexutil.Decode(out.Result)
}
