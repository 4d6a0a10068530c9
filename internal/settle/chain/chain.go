// Package chain asks an EVM chain, over any JSON-RPC endpoint, and moves USDC
// on it.
//
// Client answers whether a wallet signed. A plain wallet is answered by
// arithmetic, one made of code answers for itself (ERC-1271, ERC-6492), in one
// call that changes nothing and is bounded in gas, time and number. When the
// chain does not answer, nobody knows, and that is an error, never a no.
//
// Settler settles payments and refunds. Callers wait, and one of them works for
// all, in rounds: look at the final block, and answer those whose fate it shows;
// for the others, try the transfer, write the signed transaction down with its
// nonce, and only then send it. What is signed is sent until it is mined. What
// was mined is never written down: the chain is asked each time, so a crash, a
// lost answer, a stranger who was faster and a reorganisation are one case. A
// payment is settled by its logs alone, and refused only when the final block
// shows that the money cannot move any more.
package chain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	patience  = 5 * time.Second // for one answer, unless somebody says otherwise
	maxAnswer = 4 << 20         // bytes
	maxAtOnce = 8               // questions under way
)

// Client asks one endpoint, and another one when that does not answer. Make one
// with Dial.
type Client struct {
	// Patience is how long one answer may take, the wait for a turn included.
	// Change it before the first use only.
	Patience time.Duration

	urls  []string
	good  atomic.Int64 // which endpoint answered last
	http  *http.Client
	slots chan struct{} // holds a token for each question under way
}

// Dial returns a client for the endpoints at the given addresses, all of one
// chain. It does not connect.
func Dial(urls ...string) *Client {
	return &Client{
		Patience: patience,
		urls:     urls,
		http: &http.Client{
			Transport: &http.Transport{MaxIdleConnsPerHost: maxAtOnce, IdleConnTimeout: time.Minute},
			// An endpoint that sends us elsewhere is not the one we were told of.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		slots: make(chan struct{}, maxAtOnce),
	}
}

// A RemoteError is an answer that says why there is none.
type RemoteError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RemoteError) Error() string { return fmt.Sprintf("the chain says %d: %s", e.Code, e.Message) }

// reverted is the code of a call that the EVM took back.
const reverted = 3

// call asks one question and reads the answer into out.
func (c *Client) call(ctx context.Context, out any, method string, params ...any) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait to ask the chain: %w", ctx.Err())
	}
	if err := caller.Err(); err != nil { // our own context hears of it a moment later
		return fmt.Errorf("wait to ask the chain: %w", err)
	}
	raw, err := c.post(ctx, method, params)
	if err != nil {
		return fmt.Errorf("ask the chain for %s: %w", method, err)
	}
	var answer struct {
		Result any          `json:"result"`
		Error  *RemoteError `json:"error"`
	}
	answer.Result = out
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("read the chain's answer to %s: %w", method, err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return nil
}

// post asks the endpoint that answered last, and then the others. Each has its
// share of the time.
func (c *Client) post(ctx context.Context, method string, params []any) ([]byte, error) {
	question, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	var errs []error
	first := c.good.Load()
	for i := range int64(len(c.urls)) {
		which := (first + i) % int64(len(c.urls))
		answer, err := c.postTo(ctx, c.urls[which], question)
		if err == nil {
			c.good.Store(which)
			return answer, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (c *Client) postTo(ctx context.Context, url string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Patience/time.Duration(len(c.urls)))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return nil, errors.New("the endpoint's address is malformed") // not the address itself: it may hold a key
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer res.Body.Close() // it is read below, or not wanted
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the endpoint answered %d", res.StatusCode)
	}
	return io.ReadAll(http.MaxBytesReader(nil, res.Body, maxAnswer))
}

// Ping fails unless the endpoint answers and is on the given chain.
func (c *Client) Ping(ctx context.Context, chainID uint64) error {
	var answer quantity
	if err := c.call(ctx, &answer, "eth_chainId"); err != nil {
		return err
	}
	if uint64(answer) != chainID {
		return fmt.Errorf("the endpoint is on chain %d, not on %d", answer, chainID)
	}
	return nil
}
